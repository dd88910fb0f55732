{#
    End each version where the next one starts, and tell when its assertions were seen first.

        |--- v1 ---[--- v2 ---[--- v3 … open

    Law B4: windows are half-open; versions that tie on an instant keep a zero-length one
    as evidence; the last is open, and so the only current one.
#}
{% macro close_versions(numbered) -%}

select
    *,
    min(ingest_ts) over of_version as version_first_seen_ts,
    max(ingest_ts) over of_version as version_last_seen_ts,
    min(effective_ts) over of_next_version as version_ends_at

from {{ numbered }}
window
    of_version as (partition by bk, clock order by version range between current row and current row),
    of_next_version as (partition by bk, clock order by version range between 1 following and 1 following)

{%- endmacro %}
