{#
    Every accepted record of a landing is in the evidence, once, and nothing else is.

    Law E2: what is not quarantined is accepted, repeats included. Landings that began
    after this command did are left to the next one.
#}
{% test evidence_is_conserved(model, landings) %}

with accepted as (
    {%- for landing in landings %}

    select
        landing_id,
        feed,
        count(*) as records

    from {{ landing }}
    where quarantine_reason is null
        and recorded_at < timestamp '{{ run_started_at }}'
    group by landing_id, feed
    {%- if not loop.last %}

    union all
    {%- endif %}
    {%- endfor %}

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
        coalesce(accepted.landing_id, kept.landing_id) as landing_id,
        coalesce(accepted.feed, kept.feed) as feed,
        coalesce(accepted.records, 0) as accepted_records,
        coalesce(kept.records, 0) as kept_records

    from accepted
    full outer join kept
        on accepted.landing_id = kept.landing_id and accepted.feed = kept.feed
)
lateral view explode(array(case
    when accepted_records = 0
        then 'The evidence has a landing that no landing table of this test has. List its feed in the test, or restore it.'
    when kept_records = 0
        then 'None of this landing is in the evidence. Run dbt build, and see that the evidence model reads the feed.'
    else 'The two differ. Look for a filter or a join in the mapping of the feed, then drop the evidence and build.'
end)) as problem
where accepted_records <> kept_records

{% endtest %}
