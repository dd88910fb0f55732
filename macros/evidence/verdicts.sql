{#
    What the gate said of each landing, and whether the feed had been better before.
#}
{% macro verdicts(landings) -%}

with judged as (

    select
        feed,
        landing_id,
        recorded_at,
        verdict,
        {{ attest.read_manifest('record') | indent(8) }} as manifest,
        array_position(
            array('DEFENSIBLE', 'LIMITED_FALLBACK_ONLY', 'REJECT_FOR_AUTHORITATIVE_BRONZE'),
            verdict
        ) as severity

    from {{ landings }}
    where status = 'control'

)

select
    feed,
    landing_id,
    recorded_at,
    lead(recorded_at) over of_feed as superseded_at,
    verdict,
    severity > min(severity) over of_feed as is_worse,
    manifest.reasons,
    manifest.records,
    manifest.measures,
    manifest.newest_source_time

from judged
window of_feed as (partition by feed order by recorded_at, landing_id)

{%- endmacro %}
