{#
    One strategy's whole query: each record of the slice, what happens to it, and the rows of the table that it becomes.

    `columns` are those calculated, told, held (none where there is no table yet) and of the table's
    new shape; `steps` what the model declares. Records are compared in one join, and counted in it.
#}
{% macro changes(slice, table, columns, steps) -%}

with processed as (

    {{ processed(slice, columns.calculated, steps) | indent(4) }}

),

told as (

    select
        *,
        count(*) over (partition by primary_key) as attest_copies

    from processed

){{ ',' if columns.held and steps.strategy != 'full' }}
{%- if not columns.held or steps.strategy == 'full' %}

{{ full_changes('told', columns, steps) }}
{%- else %}

held as (

    select
        *,
        {{ steps.window }} as attest_in_window

    from {{ table }}
    {%- if steps.strategy == 'historic' %}
    where is_current
    {%- endif %}

)

{{ (merge_changes if steps.strategy == 'merge' else historic_changes)('told', 'held', columns, steps) }}
{%- endif %}

{%- endmacro %}
