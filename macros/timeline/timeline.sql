{#
    Bronze SCD2: one row a version of an entity, from its assertions' whole states.

    Law B1: a pure function of the entity's evidence. Columns are those of sections 5.1
    and 5.2 by those names, then the attributes, then those that nobody has mentioned.
#}
{% macro timeline(entity, states, attributes) -%}

with states as (

    select * from {{ states }}

),

hashed as (

    {{ hash_states('states', attributes) | indent(4) }}

),

marked as (

    {{ mark_state_changes('hashed') | indent(4) }}

),

numbered as (

    {{ number_versions('marked') | indent(4) }}

),

versions as (

    {{ collapse_versions('numbered') | indent(4) }}

),

closed as (

    {{ close_versions('versions') | indent(4) }}

)

select
    bk,
    {{ surrogate_key(entity) }} as sk,
    'STATE' as entity_type,
    source_system,
    source_type,
    source_path,
    source_file,
    ingest_run_id,
    ingest_ts,
    source_event_ts,
    effective_from,
    effective_to,
    is_current,
    first_seen_ts,
    last_seen_ts,
    attr_hash,
    hash_version,
    {{ record_hash() | indent(4) }} as record_hash,
    is_deleted,
    precedence_rank,
    load_type,
    assertion_id,
    version,
    {%- for attribute, type in attributes.items() %}
    {{ typed("state['" ~ attribute ~ "']", type) }} as {{ attribute }},
    {%- endfor %}
    array_except(array('{{ attributes | join("', '") }}'), map_keys(state)) as unknown_attributes

from closed

{%- endmacro %}
