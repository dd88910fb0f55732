select
    fields['customer_id'] as bk,
    fields['source_system'] as source_system,
    coalesce(fields['source_file'], source_file) as source_file,
    coalesce(fields['ingest_run_id'], ingest_run_id) as ingest_run_id,
    cast(fields['precedence_rank'] as int) as precedence_rank,
    fields['load_type'] as load_type,
    coalesce(cast(fields['is_deleted'] as boolean), false) as is_deleted,
    {{ mentions(fields='fields', attributes=attributes_of('customer')) | indent(4) }},
    source_event_ts,
    source_event_finer,
    source_sequence,
    {{ provenance() | indent(4) }}

from {{ ref('landing_worked') }}
where status = 'accepted'
