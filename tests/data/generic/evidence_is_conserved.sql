{#
    Every record of a landing is accounted for, and what was accepted is in the evidence, once.

    Law E2: rows in = accepted (repeats among them) + quarantined + held + notices + skipped (a
    capture that its ledger does not let through), by what the landing said when it was made;
    control records are counted apart. Landings that began after this
    command did are left to the next one.
#}
{% test evidence_is_conserved(model, landings) %}

with landed as (
    {%- for landing in landings %}

    select
        landing_id,
        feed,
        status,
        if(status = 'control', {{ attest.read_manifest('record') }}.records, 0) as records_in

    from {{ landing }}
    where recorded_at < timestamp '{{ run_started_at }}'
    {%- if not loop.last %}

    union all
    {%- endif %}
    {%- endfor %}

),

accounted as (

    select
        landing_id,
        feed,
        sum(records_in) as records_in,
        count_if(status = 'accepted') as accepted,
        count_if(status = 'quarantined') as quarantined,
        count_if(status = 'held') as held,
        count_if(status = 'skipped') as skipped,
        count_if(status = 'notice') as notices

    from landed
    group by landing_id, feed

),

kept as (

    select
        landing_id,
        feed,
        count(*) as records

    from {{ model }}
    where recorded_at < timestamp '{{ run_started_at }}'
    group by landing_id, feed

)

select *

from (
    select
        coalesce(accounted.landing_id, kept.landing_id) as landing_id,
        coalesce(accounted.feed, kept.feed) as feed,
        accounted.records_in,
        accounted.accepted,
        accounted.quarantined,
        accounted.held,
        accounted.skipped,
        accounted.notices,
        coalesce(kept.records, 0) as kept_records,
        case
            when accounted.landing_id is null
                then 'The evidence has a landing that no landing table of this test has. List its feed in the test, or restore it.'
            when accounted.records_in <> accounted.accepted + accounted.quarantined + accounted.held + accounted.notices + accounted.skipped
                then 'The landing table does not have what was landed. Something but attest wrote it: restore it.'
            when accounted.accepted > 0 and kept.records is null
                then 'None of this landing is in the evidence. Run dbt build, and see that the evidence model reads the feed.'
            when accounted.accepted <> coalesce(kept.records, 0)
                then 'The two differ. Look for a filter or a join in the mapping of the feed, then drop the evidence and build.'
        end as problem

    from accounted
    full outer join kept
        on accounted.landing_id = kept.landing_id and accounted.feed = kept.feed
)
where problem is not null

{% endtest %}
