{#
    Each fact's version key is that of the version which covers it, and it has none where no version does.

    Law C2. Asked of the keys as they stand, without the join that gave them.
#}
{% test facts_resolve(model, dimension, row_key, found_by, at='happened_at', key='bk') %}

with resolved as (

    select
        fact.{{ key }},
        fact.{{ found_by }},
        fact.{{ at }},
        fact.{{ row_key }},
        case
            when version.version_sk is null
                then 'Names a version that {{ dimension.identifier }} does not have'
            when not version.bk <=> fact.{{ found_by }}
                then concat('Names a version of ', version.bk)
            when fact.{{ at }} < version.effective_from or fact.{{ at }} >= version.effective_to
                then concat('Names a version that holds from ', version.effective_from, ' and does not cover it')
        end as wrong

    from {{ model }} as fact
    left join {{ dimension }} as version
        on fact.{{ row_key }} = version.version_sk
    where fact.{{ row_key }} is not null

),

unresolved as (

    select
        fact.{{ key }},
        fact.{{ found_by }},
        fact.{{ at }},
        fact.{{ row_key }},
        concat('Has no version, and one covers it since ', version.effective_from) as wrong

    from {{ model }} as fact
    inner join {{ dimension }} as version
        on fact.{{ found_by }} = version.bk
            and fact.{{ at }} >= version.effective_from
            and (version.effective_to is null or fact.{{ at }} < version.effective_to)
    where fact.{{ row_key }} is null

)

select
    *,
    concat(wrong, '. Build {{ model.identifier }} again; if that does not mend it, with --full-refresh.') as problem

from (
    select *
    from resolved
    union all
    select *
    from unresolved
)
where wrong is not null

{% endtest %}
