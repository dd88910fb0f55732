select
    {{ business_key(fields='fields', parts=['exchange', 'symbol']) | indent(4) }} as bk,
    upper(fields['vendor']) as source_system,
    source_file,
    ingest_run_id,
    0 as precedence_rank,
    'FULL' as load_type,
    false as is_deleted,
    {{ mentions(
        fields='fields',
        attributes=dict(attributes_of('instrument'), **untracked_of('instrument'))
    ) | indent(4) }},
    source_event_ts,
    source_event_finer,
    source_sequence,
    {{ provenance() | indent(4) }}

from {{ ref('landing_listings') }}
where status = 'accepted'
