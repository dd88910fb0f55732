{#
    Keep the first assertion of each version, with the sightings of all of them.

    Law B4: a version's provenance is its first assertion's; first and last seen span the group.
#}
{% macro collapse_versions(numbered) -%}

select
    * except (last_seen_ts, seen),
    seen.first_seen_ts,
    seen.last_seen_ts

from (
    select
        *,
        struct(
            min(ingest_ts) over of_version as first_seen_ts,
            max(last_seen_ts) over of_version as last_seen_ts
        ) as seen

    from {{ numbered }}
    window of_version as (partition by bk, version)
)
where starts_version

{%- endmacro %}
