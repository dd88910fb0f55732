{#
    The attributes of an entity and their types, as declared once in dbt_project.yml.
#}
{% macro attributes_of(entity) -%}

{%- set entities = var('entities') -%}
{%- if entity not in entities -%}
    {{ exceptions.raise_compiler_error(
        "No entity is called '" ~ entity ~ "'. Declare it under vars: entities: in dbt_project.yml, which has: "
        ~ entities | join(', ') ~ "."
    ) }}
{%- endif -%}
{{ return(entities[entity]['attributes']) }}

{%- endmacro %}
