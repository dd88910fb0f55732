{#
    One row a capture that a build has replayed, with what it changed: what the ledger calls a success.

    A full snapshot's counts are those of its diff; a capture of changes is what it says, so it has none.
#}
{% macro replays(landing, evidence, changes) -%}

with landed as (

    select
        landing_id,
        feed,
        {{ attest.read_manifest('record') | indent(8) }}.capture as capture

    from {{ landing }}
    where status = 'control'

),

counted as (

    select
        landing_id,
        count_if(change = 'new') as new,
        count_if(change = 'modified') as modified,
        count_if(change = 'delisted') as delisted,
        count_if(change = 'unchanged') as unchanged

    from {{ changes }}
    group by landing_id

),

kept as (

    select
        landing_id,
        count(*) as assertions

    from {{ evidence }}
    group by landing_id

)

select
    landed.landing_id,
    landed.feed,
    if(capture.capture_mode = 'full_snapshot', coalesce(counted.new, 0), null) as new,
    if(capture.capture_mode = 'full_snapshot', coalesce(counted.modified, 0), null) as modified,
    if(capture.capture_mode = 'full_snapshot', coalesce(counted.delisted, 0), null) as delisted,
    if(capture.capture_mode = 'full_snapshot', coalesce(counted.unchanged, 0), null) as unchanged,
    coalesce(kept.assertions, 0) as assertions,
    current_timestamp() as replayed_at

from landed
left join counted
    on landed.landing_id = counted.landing_id
left join kept
    on landed.landing_id = kept.landing_id
where landed.capture.status = 'pending'

{%- endmacro %}
