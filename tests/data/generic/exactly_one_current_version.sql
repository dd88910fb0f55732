{#
    Each key has one version in force now, and it is the one without an end.

    Law B4: `is_current` says that `effective_to` is null.
#}
{% test exactly_one_current_version(model) %}

select *

from (
    select
        bk,
        count_if(is_current) as current_versions,
        count_if(effective_to is null) as open_versions,
        case
            when count_if(is_current) <> 1
                then concat('Has ', count_if(is_current), ' current versions. Rebuild this table with --full-refresh.')
            when count_if(is_current <> (effective_to is null)) > 0
                then 'The current version has an end, or another has none. Rebuild this table with --full-refresh.'
        end as problem

    from {{ model }}
    group by bk
)
where problem is not null

{% endtest %}
