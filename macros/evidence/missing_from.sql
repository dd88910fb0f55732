{#
    Which entities each snapshot lacks, and the assertion that says they should be there.

        feed        A live ------------------> next word on A
        snapshots          S1 lacks A   S2

    Law B8: within its scope, what the feed last asserted as live before the snapshot's time,
    and says nothing of at that time. `snapshots` have feed, as_of and scopes (none: all).
#}
{% macro missing_from(snapshots, evidence, attributes) -%}

select
    snapshot.*,
    said.bk,
    said.source_system,
    said.source_type,
    said.precedence_rank,
    said.inheritance,
    said.scope,
    said.source_event_ts as last_said_ts,
    said.ingest_ts as last_said_arrival,
    said.recorded_at as last_said_recorded_at

from (
    select
        *,
        lead(effective_ts) over (
            partition by bk, feed
            order by
                {{ attest.in_source_time(attributes) | indent(16) }}
        ) as next_said_ts

    from (
        {{ attest.first_copies('(select * from ' ~ evidence ~ ' left semi join ' ~ snapshots ~ ' using (feed))') | indent(8) }}
    ) as of_any_clock
    where clock = 'source'
) as said
inner join {{ snapshots }} as snapshot
    on said.feed = snapshot.feed
    and said.effective_ts < snapshot.as_of
    and (said.next_said_ts is null or said.next_said_ts > snapshot.as_of)
    and (size(snapshot.scopes) = 0 or array_contains(snapshot.scopes, said.scope))
where not said.is_deleted

{%- endmacro %}
