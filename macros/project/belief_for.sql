{#
    Many questions at once: a relation of bk, as_at, known_at (null: as best known) and the
    belief then, with the attributes and is_deleted. One job, however many questions.

    Law S7: a question about an entity that nobody had spoken of by then has no answer row.
    Without its indentation, so that a view may ask: the embedded catalog takes views of 32,700
    characters at the most. `keys` says of which entities is asked, where that is known beforehand;
    `assertions` names the states where nothing is asked of earlier knowledge.
#}
{% macro belief_for(entity, asked, keys=none, assertions=none) -%}

{%- set attributes = attest.attributes_of(entity) -%}
{%- set engine = attest.answers(
    assertions=attest.of_keys(assertions or ref(entity ~ '_as_known'), keys),
    asked='these_questions',
    rules=ref(entity ~ '_rules'),
    attributes=attributes.keys() | list + ['is_deleted']
) -%}
{%- set questions = 'select bk, cast(as_at as timestamp) as as_at, cast(known_at as timestamp) as known_at from ' ~ asked -%}
(
    {{ attest.belief_at(
        answers='(' ~ modules.re.sub('\n +', '\n', engine) | replace('these_questions', questions) ~ ')',
        attributes=attributes
    ) }}
)

{%- endmacro %}
