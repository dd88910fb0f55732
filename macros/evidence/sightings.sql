{#
    Every assertion that arrived more than once: when it was last seen, and how often again.

    Law B4: kept beside the states, so that what only says the same again costs no rebuild.
#}
{% macro sightings(evidence) -%}

select
    bk,
    assertion_id,
    max(ingest_ts) as last_seen_ts,
    count(*) - 1 as replay_count

from {{ evidence }}
where verdict <> 'REJECT_FOR_AUTHORITATIVE_BRONZE'
group by bk, assertion_id
having count(*) > 1

{%- endmacro %}
