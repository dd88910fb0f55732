{#
    One row an assertion, in order, with its entity's whole state after it and the version it is part of.

        order -> whole state -> hash -> mark where it changes -> number versions -> close them

    Law B1: a pure function of the entity's evidence, written for the whole entity at once, so
    that no reader ever sees a version without its assertions. The timeline is the rows that
    start a version.
#}
{% macro states(arrivals, attributes) -%}

with ordered as (

    {{ ordered(arrivals, attributes) | indent(4) }}

),

completed as (

    {{ complete_states('ordered') | indent(4) }}

),

hashed as (

    {{ hash_states('completed', attributes) | indent(4) }}

),

marked as (

    {{ mark_state_changes('hashed') | indent(4) }}

),

numbered as (

    {{ number_versions('marked') | indent(4) }}

)

{{ close_versions('numbered') }}

{%- endmacro %}
