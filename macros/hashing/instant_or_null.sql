{#
    An ISO-8601 string, or none, as a timestamp; quotes and backslashes in it stay text.
#}
{% macro instant_or_null(text) -%}
{%- if text is none -%}
cast(null as timestamp)
{%- else -%}
cast('{{ text | string | replace("\\", "\\\\") | replace("'", "\\'") }}' as timestamp)
{%- endif -%}
{%- endmacro %}
