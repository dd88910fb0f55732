{#
    The attributes of an entity that are kept as evidence and make no versions; none unless it declares some.
#}
{% macro untracked_of(entity) -%}
{{ return(attest.declaration_of(entity).get('untracked', {})) }}
{%- endmacro %}
