{#
    One row an assertion, in the total order: repeats collapsed, sightings counted.

    Law E1: the copy that stands for an assertion is the one that arrived first, then by
    file, then by run; what follows only makes the choice total.
#}
{% macro ordered(arrivals, attributes) -%}

with copies as (

    select
        *,
        row_number() over first_to_arrive as copy,
        max(ingest_ts) over of_assertion as last_seen_ts,
        count(*) over of_assertion - 1 as replay_count

    from (
        -- One shuffle serves all that follows: copies, order and states are within an entity.
        select *

        from {{ arrivals }}
        distribute by bk
    )
    window
        of_assertion as (partition by bk, assertion_id),
        first_to_arrive as (
            partition by bk, assertion_id
            order by
                ingest_ts,
                source_file nulls last,
                ingest_run_id nulls last,
                source_record,
                source_path,
                landing_id
        )

)

select
    * except (copy),
    row_number() over (
        partition by bk
        order by
            {{ in_source_time(attributes) | indent(12) }}
    ) as position

from copies
where copy = 1

{%- endmacro %}
