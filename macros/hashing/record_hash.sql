{#
    The hash of the row that says so: the state's, and where it came from.
#}
{% macro record_hash() -%}
sha2(concat(
    {{ attest.encode('attr_hash') }},
    {{ attest.encode('assertion_id') }},
    {{ attest.encode('feed') }},
    {{ attest.encode('source_type') }},
    {{ attest.encode('source_path') }},
    {{ attest.encode('source_file') }},
    {{ attest.encode('ingest_run_id') }},
    {{ attest.encode('cast(unix_micros(ingest_ts) as string)') }}
), 256)
{%- endmacro %}
