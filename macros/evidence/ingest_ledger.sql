{#
    One row a capture: what it says of itself, whether it is replayed, and what it changed.

    Law B9: landing gave the status, once; `pending` becomes `success` when a build has replayed it.
#}
{% macro ingest_ledger(landings, replays) -%}

with replayed as (
    {%- for one in replays %}

    select *

    from {{ one }}
    {%- if not loop.last %}

    union all
    {%- endif %}
    {%- endfor %}

)

select
    landed.landing_id,
    landed.feed,
    capture.vendor,
    capture.dataset,
    capture.data_type,
    capture.scope,
    capture.capture_mode,
    if(replayed.landing_id is null, capture.status, 'success') as status,
    capture.why,
    capture.prior as prior_landing_id,
    replayed.new,
    replayed.modified,
    replayed.delisted,
    replayed.unchanged,
    replayed.assertions,
    capture.complete,
    capture.record_count,
    capture.expected_record_count,
    capture.captured_at,
    capture.effective_at,
    capture.content_sum,
    capture.file_sum,
    capture.path,
    landed.recorded_at,
    replayed.replayed_at

from (
    select
        landing_id,
        feed,
        recorded_at,
        {{ attest.read_manifest('record') | indent(8) }}.capture as capture

    from {{ landings }}
    where status = 'control'
) as landed
left join replayed
    on landed.landing_id = replayed.landing_id
where landed.capture is not null

{%- endmacro %}
