select
    fields['customer_no'] as bk,
    'CORE' as source_system,
    source_file,
    ingest_run_id,
    0 as precedence_rank,
    if(fields['__op'] = 'd', 'PARTIAL', 'FULL') as load_type,
    fields['__op'] = 'd' as is_deleted,
    {{ mentions(
        fields='fields',
        attributes=attributes_of('customer'),
        renamed={'name': 'full_name'}
    ) | indent(4) }},
    source_event_ts,
    source_event_finer,
    source_sequence,
    {{ provenance() | indent(4) }}

from {{ ref('landing_core_customers') }}
where status = 'accepted'
