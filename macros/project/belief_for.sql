{#
    Many questions at once: a relation of bk, as_at, known_at (null: as best known) and the
    belief then, with the attributes and is_deleted. One job, however many questions.

    Law S7: a question about an entity that nobody had spoken of by then has no answer row.
#}
{% macro belief_for(entity, asked) -%}

{%- set attributes = attributes_of(entity) -%}
(
    {{ belief_at(
        answers='(' ~ answers(
            assertions=ref(entity ~ '_states'),
            asked='select bk, cast(as_at as timestamp) as as_at, cast(known_at as timestamp) as known_at from ' ~ asked,
            rules=ref(entity ~ '_rules'),
            attributes=attributes.keys() | list + ['is_deleted']
        ) ~ ')',
        attributes=attributes
    ) | indent(4) }}
)

{%- endmacro %}
