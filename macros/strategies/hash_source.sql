{#
    Step 3 of a strategy: one hash of all tracked columns, by which a change is told.

    As in law B5: names and lengths go first, so no two rows run into one; the order of columns does
    not matter; null leaves no trace, so a column that is new changes no hash while it is null.
    `columns` gives each its type.
#}
{% macro hash_source(rows, columns) -%}

select
    *,
    sha2(concat(
        {%- for column, type in columns.items() | sort %}
        coalesce(concat('{{ column | length }}:', {{ attest.quoted(column | lower) }}, {{ attest.length_first(attest.text_of(attest.named(column), type)) }}), ''){{ ',' if not loop.last }}
        {%- endfor %}
    ), 256) as source_hash

from {{ rows }}

{%- endmacro %}


{# A value as text, null for null; what is nested keeps its marks, so that no delimiter in the data counts. #}
{% macro text_of(value, type) -%}
{%- if type == 'string' -%}
{{ value }}
{%- elif type == 'binary' -%}
hex({{ value }})
{%- elif type.split('<')[0] in ('array', 'map', 'struct', 'variant') -%}
if({{ value }} is null, null, to_json(named_struct('value', {{ value }}), map('timestampFormat', "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", 'timestampNTZFormat', "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")))
{%- else -%}
cast({{ value }} as string)
{%- endif -%}
{%- endmacro %}


{# A text with its length before it; null stays null. #}
{% macro length_first(text) -%}
length({{ text }}), ':', {{ text }}
{%- endmacro %}
