{#
    A row of the table as `of`, told or held, has it, in the table's types; some columns by other expressions.

    `columns` are those that are told, that are held, and that the table is to have, each with its type.
    What `of` lacks is null.
#}
{% macro as_row(of, columns, values={}) -%}
struct(
    {%- for column, type in columns.shape.items() %}
    {% if column in values -%}
    {{ values[column] }}
    {%- elif column not in columns[of] -%}
    cast(null as {{ type }})
    {%- elif columns[of][column] != type -%}
    try_cast({{ of }}.{{ named(column) }} as {{ type }})
    {%- else -%}
    {{ of }}.{{ named(column) }}
    {%- endif %} as {{ named(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}
