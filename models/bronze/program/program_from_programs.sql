select
    fields['program_id'] as bk,
    fields['source_system'] as source_system,
    source_file,
    ingest_run_id,
    0 as precedence_rank,
    'PARTIAL' as load_type,
    coalesce(cast(fields['is_deleted'] as boolean), false) as is_deleted,
    {{ mentions(fields='fields', attributes=attributes_of('program')) | indent(4) }},
    source_event_ts,
    source_event_finer,
    source_sequence,
    {{ provenance() | indent(4) }}

from {{ ref('landing_programs') }}
where status = 'accepted'
