{#
    Answer questions about entities: one row each, with a decision per attribute.

    `asked` is a relation of bk, as_at, known_at. Law S7: an entity that nobody had spoken
    of by then has no row. Everything that Silver says is read off this one relation.
#}
{% macro decisions(assertions, asked, rules, attributes) -%}

with asked as (

    {{ asked | indent(4) }}

),

assertions as (

    select
        bk,
        source_system,
        assertion_id,
        source_event_ts,
        known_from,
        position,
        map_concat(mentions, map('is_deleted', cast(is_deleted as string))) as mentions

    from {{ assertions }}
    where clock = 'source'

),

heard as (

    {{ hear('assertions', 'asked', attributes) | indent(4) }}

),

answers as (

    {{ ask_each_source('heard', 'asked', attributes) | indent(4) }}

),

weighed as (

    {{ weigh('answers', rules, attributes) | indent(4) }}

)

{{ decide('weighed', attributes) }}

{%- endmacro %}
