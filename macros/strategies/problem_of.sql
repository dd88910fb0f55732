{#
    Why a record must not be written, or null.

    It has no key, its key stands twice, a value does not fit the table's type, or, in a history,
    the version that it ends begins no earlier.
#}
{% macro problem_of(columns, is_compared_by_time) -%}
case
    when told.source_hash is not null and told.primary_key is null then 'nameless'
    when told.attest_copies > 1 then 'repeated'
    {%- for column, type in columns.told.items() if columns.shape[column] != type %}
    when not try_cast(try_cast(told.{{ attest.named(column) }} as {{ columns.shape[column] }}) as {{ type }}) <=> told.{{ attest.named(column) }}
        then 'misfit'
    {%- endfor %}
    {%- if is_compared_by_time %}
    when attest_action in ('updated', 'inferred') and held.effective_from >= :processing_time then 'inverted'
    {%- endif %}
end
{%- endmacro %}


{# What names a record in an error: its business key. #}
{% macro record_named(business_key) -%}
to_json(struct(
    {%- for column in business_key %}
    told.{{ attest.named(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
))
{%- endmacro %}


{# The key of the version that begins then. #}
{% macro version_named(primary_key, begins=':processing_time') -%}
sha2(concat(lower(hex({{ primary_key }})), ':', unix_micros({{ begins }})), 256)
{%- endmacro %}
