{#
    The columns that every feed takes from landing as they are.
#}
{% macro provenance() -%}
feed,
source_type,
source_path,
source_record,
landing_id,
ingest_ts,
recorded_at,
ingest_ts < recorded_at as is_backfilled,
inheritance
{%- endmacro %}
