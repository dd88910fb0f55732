{#
    What the evidence holds of an assertion, in the order of its columns.
#}
{% macro evidence_columns() -%}
bk,
source_system,
is_deleted,
unchanged,
ingest_ts,
clock,
inheritance,
effective_ts,
mentions,
moved_from,
{{ attest.carried_columns() }}
{%- endmacro %}


{# Of these, what no step from state to version looks at. #}
{% macro carried_columns() -%}
assertion_id,
source_event_ts,
known_from,
is_inferred,
is_backfilled,
source_event_finer,
source_sequence,
precedence_rank,
load_type,
source_file,
ingest_run_id,
feed,
source_type,
source_path,
source_record,
landing_id,
recorded_at,
released_at,
verdict,
scope,
expires_at,
remark
{%- endmacro %}
