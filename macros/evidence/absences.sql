{#
    The deletes that snapshots prove, as assertions: one row an entity and the first snapshot that lacks it.

    Law B8: at the snapshot's time, marked as inferred; its arrival is the later of the
    snapshot's and of the evidence that triggers it. A pure function of both, so that late
    evidence, a release and a withdrawal are only another answer.
#}
{% macro absences(evidence, snapshots, rulings, attributes) -%}

with effective as (

    {{ attest.effective_snapshots(snapshots, rulings) | indent(4) }}

),

missing as (

    {{ attest.missing_from('effective', evidence, attributes) | indent(4) }}

),

inferred as (

    select
        *,
        '' as source_path,
        cast(0 as bigint) as source_record,
        cast(null as string) as source_file,
        cast(null as timestamp) as expires_at,
        cast(null as string) as remark,
        cast(null as string) as moved_from,
        'FULL' as load_type,
        true as is_deleted,
        array_except(array(''), array('')) as unchanged,
        as_of as source_event_ts,
        cast(0 as bigint) as source_event_finer,
        cast(null as array<decimal(38, 10)>) as source_sequence,
        greatest(arrival, last_said_arrival) as ingest_ts,
        greatest(arrival, last_said_arrival, released_at) as known_from,
        greatest(recorded_at, last_said_recorded_at) as recorded_at_last,
        as_of as effective_ts,
        'DEFENSIBLE' as verdict,
        'source' as clock,
        true as is_inferred,
        map_filter(map('', ''), (attribute, value) -> false) as mentions,
        row_number() over (partition by bk, feed, last_said_ts order by as_of, arrival, landing_id) as place

    from missing

)

select
    {{ attest.evidence_columns() | indent(4) }}

from (
    select
        * except (recorded_at),
        recorded_at_last as recorded_at,
        ingest_ts < recorded_at_last as is_backfilled,
        {{ attest.absence_id(bk='bk', feed='feed') | indent(8) }} as assertion_id

    from inferred
    where place = 1
) as identified

{%- endmacro %}


{# One snapshot deletes an entity once, on the word of the feed's source. #}
{% macro absence_id(bk, feed) -%}
sha2(concat(
    'absence',
    {{ attest.encode(bk) }},
    {{ attest.encode('source_system') }},
    {{ attest.encode(feed) }},
    {{ attest.encode('cast(unix_micros(source_event_ts) as string)') }}
), 256)
{%- endmacro %}
