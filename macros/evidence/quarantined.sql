{#
    What is in quarantine, by feed and reason, and how much of it was released since.
#}
{% macro quarantined(landings) -%}

with released as (

    select distinct
        feed,
        released_from,
        source_path,
        source_record

    from {{ landings }}
    where released_from is not null
        and status = 'accepted'

)

select
    held.feed,
    held.quarantine_reason as reason,
    count(*) as records,
    count(released.released_from) as released,
    count(*) - count(released.released_from) as remaining,
    count(distinct held.landing_id) as landings,
    min(held.ingest_ts) as first_arrival,
    max(held.ingest_ts) as last_arrival,
    max_by(held.quarantine_detail, held.recorded_at) as last_detail

from {{ landings }} as held
left join released
    on held.feed = released.feed
    and held.landing_id = released.released_from
    and held.source_path = released.source_path
    and held.source_record = released.source_record
where held.status = 'quarantined'
group by held.feed, held.quarantine_reason

{%- endmacro %}
