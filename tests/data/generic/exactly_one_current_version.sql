{#
    Each key has one version in force now, and it is the one without an end.

    Law B4: `is_current` says that `effective_to` is null, or `open_end` where open windows end
    at an instant. With `none_allowed`, a key may have none: a dimension's deleted entities.
#}
{% test exactly_one_current_version(
    model, key='bk', current='is_current', ends='effective_to', open_end=none, none_allowed=false
) %}

{%- set is_open = ends ~ ' is null' if open_end is none else ends ~ " = timestamp '" ~ open_end ~ "'" %}

select *

from (
    select
        {{ key }},
        count_if({{ current }}) as current_versions,
        count_if({{ is_open }}) as open_versions,
        case
            when count_if({{ current }}) > 1{{ '' if none_allowed else ' or count_if(' ~ current ~ ') = 0' }}
                then concat('Has ', count_if({{ current }}), ' current versions. Rebuild this table with --full-refresh.')
            when count_if(not {{ current }} <=> ({{ is_open }})) > 0
                then 'The current version has an end, or another has none. Rebuild this table with --full-refresh.'
        end as problem

    from {{ model }}
    group by {{ key }}
)
where problem is not null

{% endtest %}
