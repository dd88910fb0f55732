{#
    Each key with evidence has a history, from its first assertion to an open end, without a gap.

    Laws B1 and S7: a history is derived from all of its evidence, so a key that is missing,
    begins late or breaks off was not rebuilt. `rules` may set the basis: what arrived
    after it does not count.
#}
{% test history_is_whole(model, assertions, rules=none, clock='source') %}

with linked as (

    select
        bk,
        effective_from,
        effective_to,
        lead(effective_from) over in_time as next_from,
        row_number() over in_time = 1 as is_first

    from {{ model }}
    window in_time as (partition by bk order by effective_from, effective_to nulls last)

),

spoken as (

    select
        bk,
        min(effective_ts) as first_said

    from {{ assertions }}
    where clock = '{{ clock }}'
    {%- if rules is not none %}
        and ingest_ts <= coalesce((select max(basis_set) from {{ rules }}), ingest_ts)
    {%- endif %}
    group by bk

)

select *

from (
    select
        coalesce(linked.bk, spoken.bk) as bk,
        linked.effective_from,
        linked.effective_to,
        spoken.first_said,
        linked.next_from,
        case
            when linked.bk is null
                then 'Has assertions but no history. Rebuild this table with --full-refresh.'
            when linked.is_first and spoken.bk is null
                then 'Has a history but no assertion. Rebuild this table with --full-refresh.'
            when linked.is_first and linked.effective_from <> spoken.first_said
                then 'Does not begin with the first assertion. Rebuild this table with --full-refresh.'
            when linked.next_from is null and linked.effective_to is not null
                then 'Breaks off: nothing follows its end. Rebuild this table with --full-refresh.'
            when not linked.effective_to <=> linked.next_from
                then 'Does not end where the next one begins. Rebuild this table with --full-refresh.'
        end as problem

    from linked
    full outer join spoken
        on linked.bk = spoken.bk and linked.is_first
)
where problem is not null

{% endtest %}
