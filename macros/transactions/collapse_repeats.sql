{#
    One row an event, from all that tells it alike, with the sightings of all of it.

    Law E1: the one that arrived first stands for the event, then by file, then by run.
#}
{% macro collapse_repeats(hashed) -%}

select
    * except (telling, seen),
    ingest_ts as first_seen_ts,
    seen.last_seen_ts,
    seen.replay_count

from (
    select
        *,
        row_number() over first_to_arrive as telling,
        struct(
            max(ingest_ts) over of_event as last_seen_ts,
            count(*) over of_event - 1 as replay_count
        ) as seen

    from {{ hashed }}
    window
        of_event as (partition by bk, attr_hash),
        first_to_arrive as (
            partition by bk, attr_hash
            order by
                ingest_ts,
                source_file nulls last,
                ingest_run_id nulls last,
                assertion_id,
                source_record,
                source_path,
                landing_id
        )
)
where telling = 1

{%- endmacro %}
