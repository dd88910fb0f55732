select
    fields['office_no'] as bk,
    'PROPERTY' as source_system,
    source_file,
    ingest_run_id,
    0 as precedence_rank,
    'PARTIAL' as load_type,
    false as is_deleted,
    {{ attest.mentions(fields='fields', attributes=attest.attributes_of('office')) | indent(4) }},
    source_event_ts,
    source_event_finer,
    source_sequence,
    {{ attest.provenance() | indent(4) }}

from {{ ref('landing_offices') }}
where status = 'accepted'
