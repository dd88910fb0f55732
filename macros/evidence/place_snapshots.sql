{#
    Each snapshot's place among those of its feed and scope, and how many up to it could prove an absence.

    Law B8: one that has records in quarantine lists whom it lists and proves nothing of others.
#}
{% macro place_snapshots(snapshots) -%}

select
    landing_id,
    feed,
    covered,
    as_of,
    not has_quarantined as proves,
    row_number() over of_scope as place,
    count_if(not has_quarantined) over of_scope as proven

from (
    select
        *,
        explode_outer(scopes) as covered

    from (
        {{ snapshots | indent(8) }}
    ) as landed
) as of_each_scope
window of_scope as (partition by feed, covered order by as_of, landing_id)

{%- endmacro %}
