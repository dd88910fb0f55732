{#
    The table holds each assertion of the evidence once, and no other.

    Law B1: it is derived from all of the evidence, so an assertion that is missing means a
    key that was not rebuilt, and a stray one a key that was not emptied. Law B9: what the
    gate rejected is in no state, nor is what is marked (law C4); laws B1 and B8: what was derived is.
#}
{% test every_assertion_is_there(model, evidence, marks, derived=[]) %}

select *

from (
    select
        bk,
        assertion_id,
        case
            when count_if(is_kept) = 0
                then 'Is in the evidence but not here. Run dbt build; if that is done, rebuild this table with --full-refresh.'
            when count_if(not is_kept) = 0
                then 'Is here but not in the evidence. Rebuild this table with --full-refresh.'
            when count(*) > 2
                then 'Is here more than once. Rebuild this table with --full-refresh.'
        end as problem

    from (
        select
            bk,
            assertion_id,
            true as is_kept

        from {{ model }}

        union all

        select distinct
            bk,
            assertion_id,
            false as is_kept

        from {{ attest.unmarked(evidence, marks) }} as kept
        where verdict <> 'REJECT_FOR_AUTHORITATIVE_BRONZE'
        {%- for assertions in derived %}

        union all

        select
            bk,
            assertion_id,
            false as is_kept

        from {{ assertions }}
        {%- endfor %}
    )
    group by bk, assertion_id
)
where problem is not null

{% endtest %}
