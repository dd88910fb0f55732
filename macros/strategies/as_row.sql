{#
    A row of the table as `of`, told or held, has it, in the table's types; some columns by other expressions.

    `columns` are those that are told, that are held, and that the table is to have, each with its type.
    What `of` lacks is null. Hashes come as bytes (as_bytes).
#}
{% macro as_row(of, columns, values={}) -%}
struct(
    {%- for column, type in columns.shape.items() %}
    {% if column in values -%}
    {{ values[column] }}
    {%- elif column in ('primary_key', 'source_hash') -%}
    lower(hex({{ attest.named(of ~ '_' ~ column) }}))
    {%- elif column not in columns[of] -%}
    cast(null as {{ type }})
    {%- elif columns[of][column] != type -%}
    try_cast({{ attest.named(of ~ '_' ~ column) }} as {{ type }})
    {%- else -%}
    {{ attest.named(of ~ '_' ~ column) }}
    {%- endif %} as {{ attest.named(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}


{#
    A relation with its hashes as bytes, half as long as their text: they are most of what a comparison moves.
#}
{% macro as_bytes(rows) -%}

select
    * except (primary_key, source_hash),
    unhex(primary_key) as primary_key,
    unhex(source_hash) as source_hash

from {{ rows }}

{%- endmacro %}


{# The columns of a relation, each under its name with the relation's before it; a version's key follows from others. #}
{% macro columns_of(relation, columns) -%}
{%- for column in columns if column != 'version_sk' %}
{{ relation }}.{{ attest.named(column) }} as {{ attest.named(relation ~ '_' ~ column) }}{{ ',' if not loop.last }}
{%- endfor %}
{%- endmacro %}
