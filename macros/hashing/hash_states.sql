{#
    Hash each whole state: attr_hash for what is believed, record_hash for the row that says so.

    Law B5: attr_hash covers the state and the delete flag and nothing of provenance;
    record_hash adds where it came from. A change of algorithm raises hash_version.
#}
{% macro hash_states(states) -%}

select
    *,
    1 as hash_version,
    sha2(concat({{ encode('cast(is_deleted as string)') }}, {{ encode_map('state') }}), 256) as attr_hash,
    sha2(concat(
        {{ encode('assertion_id') }},
        {{ encode('feed') }},
        {{ encode('source_type') }},
        {{ encode('source_path') }},
        {{ encode('source_file') }},
        {{ encode('ingest_run_id') }},
        {{ encode('cast(unix_micros(ingest_ts) as string)') }},
        {{ encode_map('state') }}
    ), 256) as record_hash

from {{ states }}

{%- endmacro %}
