{#
    The attributes of an entity, or of a kind of transaction, and their types, as declared once in dbt_project.yml.
#}
{% macro attributes_of(entity) -%}

{%- set entities = dict(var('entities'), **var('transactions', {})) -%}
{%- if entity not in entities -%}
    {{ exceptions.raise_compiler_error(
        "No entity is called '" ~ entity ~ "'. Declare it under vars: entities: or transactions: in dbt_project.yml, which has: "
        ~ entities | join(', ') ~ "."
    ) }}
{%- endif -%}
{{ return(entities[entity]['attributes']) }}

{%- endmacro %}
