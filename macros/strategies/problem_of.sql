{#
    Why a record must not be written: it has no key, its key stands twice, or a value does not fit the table's type.
#}
{% macro problem_of(columns) -%}
when told.source_hash is not null and told.primary_key is null then 'nameless'
when told.attest_copies > 1 then 'repeated'
{%- for column, type in columns.told.items() if columns.shape[column] != type %}
when not try_cast(try_cast(told.{{ named(column) }} as {{ columns.shape[column] }}) as {{ type }}) <=> told.{{ named(column) }}
    then 'misfit'
{%- endfor %}
{%- endmacro %}


{# What names a record in an error: its business key. #}
{% macro record_named(business_key) -%}
to_json(struct(
    {%- for column in business_key %}
    told.{{ named(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
))
{%- endmacro %}


{# The key of the version that begins now. #}
{% macro version_named(primary_key) -%}
sha2(concat({{ primary_key }}, ':', unix_micros(:processing_time)), 256)
{%- endmacro %}
