{#
    The attributes of an entity, or of a kind of transaction, and their types, as declared once in dbt_project.yml.
#}
{% macro attributes_of(entity) -%}
{{ return(attest.declaration_of(entity).get('attributes', {})) }}
{%- endmacro %}


{#
    What dbt_project.yml says of an entity.

    While dbt only parses, an unknown one has nothing: it also parses the models that a project has switched off.
#}
{% macro declaration_of(entity) -%}

{%- set declared = dict(var('entities'), **var('transactions', {})) -%}
{%- if execute and entity not in declared -%}
    {{ exceptions.raise_compiler_error(
        "No entity is called '" ~ entity ~ "'. Declare it under vars: entities: or transactions: in dbt_project.yml, which has: "
        ~ declared | join(', ') ~ "."
    ) }}
{%- endif -%}
{{ return(declared.get(entity, {})) }}

{%- endmacro %}
