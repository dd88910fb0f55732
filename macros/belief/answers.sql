{#
    Answer questions about entities: one row each, with what is held of every attribute.

    Law S7: an entity that nobody had spoken of by then has no row.
#}
{% macro answers(assertions, asked, rules, attributes) -%}

with {{ attest.hearing(assertions, asked, rules) }},

heard as (

    {{ attest.hear('spoken', 'periods', attest.lines('questions')) | indent(4) }}

),

contests as (

    {{ attest.contest(attest.contested('spoken', 'periods', attest.lines('questions'))) | indent(4) }}

),

answered as (

    {{ attest.line_of_time('heard', 'contests', 'questions', attributes) | indent(4) }}

)

select
    bk,
    at as as_at,
    nullif(known_by, {{ attest.forever() }}) as known_at,
    {{ attributes | join(',\n    ') }}

from answered

{%- endmacro %}
