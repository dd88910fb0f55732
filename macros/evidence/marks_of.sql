{#
    Every mark there ever was, whether a command set it or a seed: one row a mark and what it speaks of.

        marked ────────── resumed ─────────── cleared
        the partition     ·                   ·            left out until it is cleared
        all landed since  ·                                left out until landing resumes

    Both are knowledge with a time of its own: `marked_at` and `cleared_at` (law B9).
#}
{% macro marks_of(log, seed) -%}

select
    mark_id,
    min_by(feed, recorded_at) as feed,
    min_by(partition, recorded_at) as partition,
    min_by(since, recorded_at) as since,
    min_by(set_by, recorded_at) as set_by,
    min(recorded_at) as marked_at,
    min_by(recorded_by, recorded_at) as marked_by,
    min_by(reason, recorded_at) as reason,
    min(if(action = 'clear', recorded_at, null)) as cleared_at,
    min_by(recorded_by, if(action = 'clear', recorded_at, null)) as cleared_by,
    min_by(reason, if(action = 'clear', recorded_at, null)) as cleared_because

from {{ log }}
group by mark_id

union all

select
    concat_ws(' ', 'seed', feed, partition, cast(unix_micros(marked_at) as string)) as mark_id,
    feed,
    partition,
    cast(null as timestamp) as since,
    'seed' as set_by,
    marked_at,
    marked_by,
    reason,
    cleared_at,
    cleared_by,
    cleared_because

from {{ seed }}

union all

select
    concat_ws(' ', 'seed', feed, partition, cast(unix_micros(marked_at) as string), 'since') as mark_id,
    feed,
    cast(null as string) as partition,
    marked_at as since,
    'seed' as set_by,
    marked_at,
    marked_by,
    reason,
    least(resumed_at, cleared_at) as cleared_at,
    cleared_by,
    cleared_because

from {{ seed }}
where stops_landing

{%- endmacro %}
