{#
    The columns that every feed takes from landing as they are.
#}
{% macro provenance() -%}
{{ attest.landed_columns() }},
ingest_ts < recorded_at as is_backfilled,
inheritance
{%- endmacro %}


{# Where a record came from and when, by the same names from landing to evidence. #}
{% macro landed_columns() -%}
feed,
source_type,
source_path,
source_record,
landing_id,
ingest_ts,
recorded_at,
released_at,
verdict,
clock,
scope,
expires_at,
remark,
moved_from
{%- endmacro %}
