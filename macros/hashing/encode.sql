{#
    One text, or null, as bytes that cannot run into their neighbours.

    Law B5: the length goes first, so no delimiter in the data can collide, and null
    differs from every text, the empty one included.
#}
{% macro encode(text) -%}
coalesce(concat(length({{ text }}), ':', {{ text }}), '-')
{%- endmacro %}
