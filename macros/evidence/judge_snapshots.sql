{#
    One row a snapshot: whether what it lacks counts as deleted, decided once (laws B8 and B9).

    Trusted: complete by its own word, as many records as expected, none in quarantine, from
    a feed that the gate lets through. The breaker holds one that would delete more, in
    number or share, than its feed promises.
#}
{% macro judge_snapshots(landings, evidence, decided, rulings, promises, attributes) -%}

with snapshots as (

    {{ attest.landed_snapshots(landings) | indent(4) }}

),

effective as (

    {{ attest.effective_snapshots(decided, rulings) if decided is not none else attest.no_snapshots() | indent(4) }}

),

missing as (

    {{ attest.missing_from('snapshots', evidence, attributes) | indent(4) }}

),

inferred as (

    {{ attest.missing_from('effective', evidence, attributes) | indent(4) }}

),

counted as (

    select
        missing.landing_id,
        count(*) as deletes

    from missing
    left anti join inferred
        on missing.feed = inferred.feed
        and missing.bk = inferred.bk
        and missing.last_said_ts = inferred.last_said_ts
        and missing.as_of > inferred.as_of
    group by missing.landing_id

),

present as (

    select
        landing_id,
        count(distinct bk) as entities

    from {{ evidence }}
    left semi join snapshots using (landing_id)
    group by landing_id

),

limits as (

    select
        feed,
        max(if(promise = 'most_deletes', cast(value as bigint), null)) as most_deletes,
        max(if(promise = 'most_deleted_share', cast(value as double), null)) as most_deleted_share

    from {{ promises }}
    group by feed

)

select
    *,
    case
        when why_untrusted is not null then 'untrusted'
        when deletes > most_deletes or deleted_share > most_deleted_share then 'held'
        else 'passed'
    end as decision,
    current_timestamp() as decided_at

from (
    select
        snapshots.* except (complete, expected, has_quarantined, verdict),
        coalesce(present.entities, 0) as entities,
        coalesce(counted.deletes, 0) as deletes,
        coalesce(
            coalesce(counted.deletes, 0) / nullif(coalesce(present.entities, 0) + coalesce(counted.deletes, 0), 0), 0
        ) as deleted_share,
        limits.most_deletes,
        limits.most_deleted_share,
        case
            when not snapshots.complete
                then 'The delivery did not say that it is complete. Land it again with --complete, if it is.'
            when snapshots.expected <> snapshots.records
                then concat('Has ', snapshots.records, ' records where ', snapshots.expected, ' were expected. Have it sent again, whole.')
            when snapshots.has_quarantined
                then 'Records of it are in quarantine, so who is missing cannot be known. Mend them, then have it sent again.'
            when snapshots.verdict <> 'DEFENSIBLE'
                then concat('The gate says ', snapshots.verdict, ' of its feed. See feed_verdicts.')
            when not array_contains(promised.deletes, 'absence')
                then 'The feed does not promise that it deletes by absence.'
        end as why_untrusted

    from snapshots
    left join present on snapshots.landing_id = present.landing_id
    left join counted on snapshots.landing_id = counted.landing_id
    left join limits on snapshots.feed = limits.feed
    left join (
        select
            feed,
            collect_set(value) as deletes

        from {{ promises }}
        where promise = 'deletes'
        group by feed
    ) as promised
        on snapshots.feed = promised.feed
) as weighed

{%- endmacro %}


{# The manifests of landings that are snapshots. #}
{% macro landed_snapshots(landings) -%}
{%- for landing in landings %}
{%- if not loop.first %}

union all

{% endif -%}
select
    landing_id,
    feed,
    ingest_run_id,
    ingest_ts as arrival,
    source_event_ts as as_of,
    recorded_at,
    verdict,
    manifest.records,
    coalesce(manifest.snapshot.complete, false) as complete,
    manifest.snapshot.expected,
    manifest.snapshot.scopes,
    size(manifest.quarantined) > 0 as has_quarantined

from (
    select
        *,
        {{ attest.read_manifest('record') | indent(8) }} as manifest

    from {{ landing }}
    where status = 'control'
) as landed
where manifest.snapshot is not null
{%- endfor %}

{%- endmacro %}
