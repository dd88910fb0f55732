{#
    A relation, or none where it has not been made.
#}
{% macro if_there(relation) -%}
{{ return(load_cached_relation(relation)) }}
{%- endmacro %}
