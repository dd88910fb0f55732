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
{%- set declaration = declared.get(entity, {}) -%}
{%- for name in declaration.get('attributes', {}) if not modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', name) -%}
    {{ exceptions.raise_compiler_error(
        "Attribute '" ~ name ~ "' of " ~ entity ~ " would be a column by that name. Give it letters, digits and _ in dbt_project.yml, "
        ~ "and let the feed's mapping rename it."
    ) }}
{%- endfor -%}
{{ return(declaration) }}

{%- endmacro %}
