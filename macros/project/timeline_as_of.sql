{#
    Bronze at an instant: the last word on every entity, whoever said it, as known at an instant.

    A relation of bk, the attributes and is_deleted, one row per entity known then, the
    deleted included. No conflict is resolved here: that is what belief_as_of is for.
#}
{% macro timeline_as_of(entity, as_at, known_at=none) -%}

(
    {{ attest.state_at(
        assertions=ref(entity ~ ('_states' if known_at is none else '_as_known')),
        as_at=as_at,
        known_at=known_at,
        attributes=attest.attributes_of(entity),
        clock=attest.clock_of(entity)
    ) | indent(4) }}
)

{%- endmacro %}
