{#
    The rows that are not what the journal tells of them: what was told before, what is now, and which columns differ.

    So whatever happened since the last entry is told once, and nothing twice. Without a journal
    all is new.
#}
{% macro differing(rows, row_key, journal) -%}

with now as (

    {{ attest.image_of(rows, row_key) | indent(4) }}

),

told as (

    {%- if journal %}

    {{ attest.replayed(journal, row_key) | indent(4) }}
    {%- else %}

    select
        bk,
        {{ row_key }},
        0 as entry,
        held

    from now
    where false
    {%- endif %}

),

compared as (

    select
        coalesce(now.bk, told.bk) as bk,
        coalesce(now.{{ row_key }}, told.{{ row_key }}) as {{ row_key }},
        coalesce(told.entry, 0) + 1 as entry,
        told.held as before,
        now.held as after,
        array_sort(filter(
            array_union(coalesce(map_keys(told.held), array()), coalesce(map_keys(now.held), array())),
            name -> not told.held[name] <=> now.held[name]
        )) as changed_columns

    from now
    full outer join told
        on now.{{ row_key }} = told.{{ row_key }}

)

select
    bk,
    {{ row_key }},
    entry,
    case
        when before is null
            then 'INSERT'
        when after is null
            then 'RETRACT'
        when after['end_reason'] = 'deleted' and not before['end_reason'] <=> 'deleted'
            then 'LOGICAL_DELETE'
        else 'UPDATE'
    end as change_type,
    changed_columns,
    if(before is null, null, map_from_arrays(changed_columns, transform(changed_columns, name -> before[name]))) as old_values,
    if(after is null, null, map_from_arrays(changed_columns, transform(changed_columns, name -> after[name]))) as new_values,
    coalesce(after, before) as image

from compared
where size(changed_columns) > 0

{%- endmacro %}
