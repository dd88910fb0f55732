{#
    The restatement report: what was believed as known at one instant and is believed otherwise as known at another.

    A relation of one row an entity, attribute and interval, with the value before and after,
    and because of which evidence or rule. Instants are ISO-8601 strings.
#}
{% macro belief_changes(entity, known_at_1, known_at_2) -%}

(
    {{ attest.restatements(
        assertions=ref(entity ~ '_as_known'),
        rules=ref(entity ~ '_rules'),
        attributes=attest.attributes_of(entity).keys() | list + ['is_deleted'],
        known_at_1=known_at_1,
        known_at_2=known_at_2
    ) | indent(4) }}
)

{%- endmacro %}
