{#
    A column's name as SQL, whatever letters it has.
#}
{% macro named(column) -%}
`{{ column | replace('`', '``') }}`
{%- endmacro %}
