{#
    What is believed of every entity at an instant, as known at an instant (none: as best known).

    A relation of bk, the attributes and is_deleted, one row per entity known then, the
    deleted included. Instants are ISO-8601 strings; without a zone they are UTC. `keys`, one
    business key or a list, asks about those alone and reads no other's evidence.
#}
{% macro belief_as_of(entity, as_at, known_at=none, keys=none) -%}

{%- set assertions = ref(entity ~ ('_states' if known_at is none else '_as_known')) -%}
(
    select * except (as_at, known_at)

    from {{ attest.belief_for(
        entity=entity,
        asked=attest.everyone_at(attest.of_keys(assertions, keys), as_at, known_at),
        keys=keys,
        assertions=assertions
    ) | indent(4) }}
)

{%- endmacro %}
