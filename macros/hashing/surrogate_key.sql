{#
    Law C2: one stable key an entity, whatever its history.
#}
{% macro surrogate_key(entity) -%}
sha2(concat('{{ entity }}', ':', bk), 256)
{%- endmacro %}
