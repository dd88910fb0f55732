{#
    Answer questions about entities: one row each, with what is held of every attribute.

    Law S7: an entity that nobody had spoken of by then has no row.
#}
{% macro answers(assertions, asked, rules, attributes) -%}

with {{ hearing(assertions, asked, rules) }},

heard as (

    {{ hear('spoken', 'periods', lines('questions')) | indent(4) }}

),

contests as (

    {{ contest(contested('spoken', 'periods', lines('questions'))) | indent(4) }}

),

answered as (

    {{ line_of_time('heard', 'contests', 'questions', attributes) | indent(4) }}

)

select
    bk,
    at as as_at,
    nullif(known_by, {{ forever() }}) as known_at,
    {{ attributes | join(',\n    ') }}

from answered

{%- endmacro %}
