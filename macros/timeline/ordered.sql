{#
    One row an assertion, in the total order: repeats collapsed, sightings counted.

    Law E1: the copy that stands for an assertion is the one that arrived first, then by
    file, then by run; what follows in the struct only makes the choice total.
#}
{% macro ordered(arrivals) -%}

with assertions as (

    select
        bk,
        assertion_id,
        min(struct(
            ingest_ts, source_file is null, source_file, ingest_run_id is null, ingest_run_id,
            source_record, source_path, landing_id, precedence_rank, load_type, inheritance,
            feed, source_type, recorded_at, is_backfilled
        )) as copy,
        first(struct(
            sk, source_system, source_event_ts, source_event_finer, source_sequence,
            is_deleted, mentions, unchanged
        )) as said,
        max(ingest_ts) as last_seen_ts,
        count(*) - 1 as replay_count

    from (
        -- One shuffle serves all that follows: copies, order, and states are within an entity.
        select *

        from {{ arrivals }}
        distribute by bk
    )
    group by bk, assertion_id

),

unfolded as (

    select
        bk,
        assertion_id,
        said.*,
        copy.feed,
        copy.source_type,
        copy.source_path,
        copy.source_file,
        copy.source_record,
        copy.ingest_run_id,
        copy.ingest_ts,
        copy.recorded_at,
        copy.is_backfilled,
        copy.precedence_rank,
        copy.load_type,
        copy.inheritance,
        copy.ingest_ts as first_seen_ts,
        last_seen_ts,
        replay_count

    from assertions

)

select
    *,
    row_number() over (
        partition by bk
        order by
            {{ in_source_time() | indent(12) }}
    ) as position

from unfolded

{%- endmacro %}
