{#
    What happens to each record of a slice, by one strategy, beside what is told and what is held of it.

    `columns` are those calculated, told, held (none where there is no table yet) and of the table's
    new shape; `steps` what the model declares. A record is compared in one join; the rows that it
    becomes are made of it afterwards (becomes), so that what does not change costs no more than that.
#}
{% macro changes(slice, table, columns, steps) -%}
{%- set is_whole = not columns.held or steps.strategy == 'full' -%}

with processed as (

    {{ attest.processed(slice, columns.calculated, steps) | indent(4) }}

),

told as (

    select
        *,
        count(*) over (partition by primary_key) as attest_copies

    from (
        {{ attest.as_bytes('processed') | indent(8) }}
    )

){{ ',' if not is_whole }}
{%- if not is_whole %}

held as (

    select
        *,
        {{ steps.window }} as attest_in_window

    from (
        {{ attest.as_bytes(table) | indent(8) }}
    )
    {%- if steps.strategy == 'historic' %}
    where is_current
    {%- endif %}

)
{%- endif %}

select
    told.source_hash is not null as attest_is_told,
    {{ (full_changes if is_whole else merge_changes if steps.strategy == 'merge' else historic_changes)() | indent(4) }} as attest_action,
    {{ attest.problem_of(columns, steps.strategy == 'historic' and not is_whole) | indent(4) }} as attest_problem,
    {{ attest.record_named(steps.named_by) | indent(4) }} as attest_record,
    {{ attest.columns_of('told', columns.told) | indent(4) }}{{ ',' if not is_whole }}
    {%- if not is_whole %}
    {{ attest.columns_of('held', columns.held) | indent(4) }}
    {%- endif %}

from told
{%- if not is_whole %}
{{ 'full' if steps.infers else 'left' }} join held on told.primary_key = held.primary_key
{%- endif %}

{%- endmacro %}


{# The rows of the table that the changes make. #}
{% macro becomes(changes, columns, steps) -%}
{%- set is_whole = not columns.held or steps.strategy == 'full' -%}

select inline(
    {{ (full_rows if is_whole else merge_rows if steps.strategy == 'merge' else historic_rows)(columns) | indent(4) }}
)

from {{ changes }}
where attest_action <> 'unchanged'

{%- endmacro %}
