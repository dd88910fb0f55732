{#
    At most one row of a key covers any instant.

        |--- 1 ---[--- 2 ---[--- 3 … open

    Law C1: windows are half-open, and null means open. An empty window covers nothing;
    only a table that keeps ties as evidence may have one.
#}
{% test intervals_do_not_overlap(model, empty_allowed=false, key='bk', starts='effective_from', ends='effective_to') %}

select *

from (
    select
        {{ key }},
        {{ starts }},
        {{ ends }},
        next_from,
        case
            when {{ ends }} < {{ starts }}
                then 'Ends before it begins. Rebuild this table with --full-refresh.'
            {%- if not empty_allowed %}
            when {{ ends }} = {{ starts }}
                then 'Is empty, so it is never in force. Rebuild this table with --full-refresh.'
            {%- endif %}
            when next_from < coalesce({{ ends }}, timestamp '9999-12-31 23:59:59')
                then concat(
                    'Still in force when the next one begins, at ', next_from,
                    '. Rebuild this table with --full-refresh, and see that nothing but dbt build writes it.'
                )
        end as problem

    from (
        select
            {{ key }},
            {{ starts }},
            {{ ends }},
            lead({{ starts }}) over in_time as next_from

        from {{ model }}
        window in_time as (partition by {{ key }} order by {{ starts }}, {{ ends }} nulls last)
    )
)
where problem is not null

{% endtest %}
