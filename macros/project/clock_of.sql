{#
    The clock of an entity's timeline: source time, unless the entity is declared to have only arrivals.
#}
{% macro clock_of(entity) -%}
{{ return(attest.declaration_of(entity).get('clock', 'source')) }}
{%- endmacro %}
