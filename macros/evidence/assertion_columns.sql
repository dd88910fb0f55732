{#
    What a feed's mapping gives, whatever the order it gives it in.
#}
{% macro assertion_columns() -%}
bk,
source_system,
source_file,
ingest_run_id,
precedence_rank,
load_type,
is_deleted,
mentions,
unchanged,
source_event_ts,
source_event_finer,
source_sequence,
{{ attest.landed_columns() }},
is_backfilled,
inheritance
{%- endmacro %}
