select
    {{ business_key(fields='fields', parts=['customer_no', 'account_no']) | indent(4) }} as bk,
    'CORE' as source_system,
    source_file,
    ingest_run_id,
    0 as precedence_rank,
    'PARTIAL' as load_type,
    coalesce(cast(fields['is_deleted'] as boolean), false) as is_deleted,
    {{ mentions(fields='fields', attributes=attributes_of('holding')) | indent(4) }},
    source_event_ts,
    source_event_finer,
    source_sequence,
    {{ provenance() | indent(4) }}

from {{ ref('landing_holdings') }}
where status = 'accepted'
