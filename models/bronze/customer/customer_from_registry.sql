select
    fields['customer_id'] as bk,
    'REGISTRY' as source_system,
    source_file,
    ingest_run_id,
    0 as precedence_rank,
    'FULL' as load_type,
    false as is_deleted,
    {{ mentions(
        fields='fields',
        attributes={'name': 'string', 'address': 'string'},
        renamed={'name': 'full_name'}
    ) | indent(4) }},
    source_event_ts,
    source_event_finer,
    source_sequence,
    {{ provenance() | indent(4) }}

from {{ ref('landing_registry') }}
where status = 'accepted'
