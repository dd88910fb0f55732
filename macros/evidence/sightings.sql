{#
    Every assertion that arrived more than once: when it was last seen, and how often again.

    Law B4: kept beside the states, so that what only says the same again costs no rebuild.
    Few do, as a rule: sums of eight bytes find them before anything wide is grouped, and where
    none does, nothing wide is.
#}
{% macro sightings(evidence) -%}

with repeated as (

    select xxhash64(bk, assertion_id) as sum

    from {{ evidence }}
    group by sum
    having count(*) > 1

)

select
    bk,
    assertion_id,
    max(ingest_ts) as last_seen_ts,
    count(*) - 1 as replay_count

from {{ evidence }}
where verdict <> 'REJECT_FOR_AUTHORITATIVE_BRONZE'
    -- Asked first; where it is none, no row goes anywhere.
    and (select count(*) from repeated) > 0
    and xxhash64(bk, assertion_id) in (select repeated.sum from repeated)
group by bk, assertion_id
having count(*) > 1

{%- endmacro %}
