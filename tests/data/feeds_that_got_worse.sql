{{ config(severity='warn') }}
-- The feeds whose newest landing got a worse verdict than they had before, where the contract says to warn.
select
    verdict.feed,
    verdict.verdict,
    verdict.recorded_at,
    verdict.reasons,
    'Got worse. Mend the source, or promise on_worse warn in seeds/promises.csv; what it landed since waits for attest release.' as problem

from {{ ref('feed_verdicts') }} as verdict
left join {{ ref('promises') }} as promised
    on verdict.feed = promised.feed and promised.promise = 'on_worse'
where verdict.superseded_at is null
    and verdict.is_worse
    and promised.value = 'warn'
