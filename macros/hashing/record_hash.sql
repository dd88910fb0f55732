{#
    The hash of the row that says so: the state's, and where it came from.
#}
{% macro record_hash() -%}
sha2(concat(
    {{ encode('attr_hash') }},
    {{ encode('assertion_id') }},
    {{ encode('feed') }},
    {{ encode('source_type') }},
    {{ encode('source_path') }},
    {{ encode('source_file') }},
    {{ encode('ingest_run_id') }},
    {{ encode('cast(unix_micros(ingest_ts) as string)') }}
), 256)
{%- endmacro %}
