{#
    Bronze SCD2: one row a version of an entity, told by the assertion that starts it.

    Law B4: its provenance is that assertion's; first and last seen span all of them, those
    seen again included. Law B6: it goes by source time, or by the
    arrival of what has nothing better (`clock`), never by both. Columns are those of
    sections 5.1 and 5.2 by those names, then the attributes, then those that nobody has
    mentioned.
#}
{% macro timeline(entity, states, sightings, attributes, clock='source') -%}

with seen_again as (

    select
        states.bk,
        states.version,
        max(sightings.last_seen_ts) as last_seen_ts

    from {{ sightings }} as sightings
    inner join {{ states }} as states
        on sightings.bk = states.bk and sightings.assertion_id = states.assertion_id
    where states.clock = '{{ clock }}'
    group by states.bk, states.version

)

select
    bk,
    {{ attest.surrogate_key(entity) }} as sk,
    'STATE' as entity_type,
    source_system,
    source_type,
    source_path,
    source_file,
    ingest_run_id,
    ingest_ts,
    source_event_ts,
    effective_ts as effective_from,
    version_ends_at as effective_to,
    version_ends_at is null as is_current,
    version_first_seen_ts as first_seen_ts,
    greatest(version_last_seen_ts, seen_again.last_seen_ts) as last_seen_ts,
    attr_hash,
    hash_version,
    {{ attest.record_hash() | indent(4) }} as record_hash,
    is_deleted,
    is_inferred,
    clock,
    precedence_rank,
    load_type,
    assertion_id,
    version,
    {%- for attribute, type in attributes.items() %}
    {{ attest.typed("state['" ~ attribute ~ "']", type) }} as {{ attribute }},
    {%- endfor %}
    array_except(array('{{ attributes | join("', '") }}'), map_keys(state)) as unknown_attributes

from {{ states }}
left join seen_again using (bk, version)
where starts_version
    and clock = '{{ clock }}'

{%- endmacro %}
