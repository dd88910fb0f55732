{#
    Each window of a key begins where the one before it ends, unless that one says why nothing follows.

        |--- 1 ---[--- 2 ---[   gap   [--- 3 … open

    `unless` is a condition on the row before the gap, such as `end_reason = 'deleted'`.
#}
{% test windows_leave_no_gap(model, key='bk', starts='effective_from', ends='effective_to', unless='false') %}

select
    {{ key }},
    {{ starts }},
    {{ ends }},
    next_from,
    concat('Ends, and the next begins only at ', next_from, '. Find out what is missing between, and build this table again.') as problem

from (
    select
        *,
        lead({{ starts }}) over in_time as next_from

    from {{ model }}
    window in_time as (partition by {{ key }} order by {{ starts }}, {{ ends }} nulls last)
)
where {{ ends }} < next_from
    and not coalesce({{ unless }}, false)

{% endtest %}
