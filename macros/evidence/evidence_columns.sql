{#
    What the evidence holds of an assertion, in the order of its columns.
#}
{% macro evidence_columns() -%}
bk,
assertion_id,
source_system,
source_file,
ingest_run_id,
precedence_rank,
load_type,
is_deleted,
unchanged,
source_event_ts,
source_event_finer,
source_sequence,
{{ landed_columns() }},
is_backfilled,
inheritance,
effective_ts,
known_from,
is_inferred,
mentions
{%- endmacro %}
