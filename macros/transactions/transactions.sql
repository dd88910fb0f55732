{#
    Facts: one row an event, told once or often; nothing that happened is ever versioned.

    Law B7: an identical repeat moves last seen and the count and no other column; a
    correction is an event of its own that names the original in the attribute `corrects`,
    and leaves the original's row as it was. Events have no end, so is_current is null.
#}
{% macro transactions(entity, assertions, attributes, corrects) -%}

with hashed as (

    {{ attest.hash_events(assertions, attributes) | indent(4) }}

),

events as (

    {{ attest.collapse_repeats('hashed') | indent(4) }}

),

compared as (

    {{ attest.mark_conflicts('events', corrects) | indent(4) }}

)

select
    bk,
    {{ attest.surrogate_key(entity) }} as sk,
    'TRANSACTION' as entity_type,
    source_system,
    source_type,
    source_path,
    source_file,
    ingest_run_id,
    ingest_ts,
    source_event_ts,
    cast(null as boolean) as is_current,
    first_seen_ts,
    last_seen_ts,
    replay_count,
    attr_hash as event_hash,
    hash_version,
    {{ attest.record_hash() | indent(4) }} as record_hash,
    is_deleted,
    clock,
    precedence_rank,
    load_type,
    assertion_id,
    is_conflicting,
    {%- for attribute, type in attributes.items() %}
    {{ attest.typed("told['" ~ attribute ~ "']", type) }} as {{ attribute }}{{ ',' if not loop.last }}
    {%- endfor %}

from compared

{%- endmacro %}
