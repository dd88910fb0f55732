{#
    A received text as the one canonical form of its value, with its type in its shape.

    Law B5: text stands in double quotes, its outer spaces (U+0020) trimmed; numbers,
    times and flags stand bare in one form each, so no two types can be mistaken for
    each other. Null stays null; no text means null.
#}
{% macro canonical(text, type='string') -%}
{%- set type = type.partition(' as ')[0] -%}
{%- if type == 'string' -%}
concat('"', trim(both ' ' from {{ text }}), '"')
{%- elif type == 'boolean' or type == 'date' -%}
cast(cast(trim({{ text }}) as {{ type }}) as string)
{%- elif type == 'timestamp' -%}
date_format(cast(trim({{ text }}) as timestamp), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'")
{%- else -%}
{#- A decimal without its trailing zeros: 12.50 and 12.5 are one number, and 100 stays 100. -#}
regexp_replace(cast(cast(trim({{ text }}) as decimal(38, 10)) as string), '[.]?0+$', '')
{%- endif -%}
{%- endmacro %}
