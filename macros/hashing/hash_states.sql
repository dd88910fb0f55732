{#
    Hash each whole state.

    Law B5: attr_hash covers the state and the delete flag and nothing of provenance. A
    change of algorithm raises hash_version.
#}
{% macro hash_states(states, attributes) -%}

select
    *,
    1 as hash_version,
    sha2(concat(
        {{ encode('cast(is_deleted as string)') }},
        {{ encode_map('state', attributes) | indent(8) }}
    ), 256) as attr_hash

from {{ states }}

{%- endmacro %}


{# The hash of the row that says so: the state's, and where it came from. #}
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
