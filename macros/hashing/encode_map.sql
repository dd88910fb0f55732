{#
    A map of attribute to canonical value as one text, attributes by name.

    Law B5: an attribute that is not in the map is unknown and leaves no trace, so an
    attribute that is introduced later changes no hash made before. The count goes first,
    as lengths do. `attributes` are all that the map may hold; the evidence sees to it.
#}
{% macro encode_map(map, attributes) -%}
concat(
    size({{ map }}),
    '#'
    {%- for attribute in attributes | sort %},
    {{ attest.encode_entry(map, attribute) | indent(4) }}
    {%- endfor %}
)
{%- endmacro %}


{#
    An attribute's name and its value, each with its length; `-` for a null, nothing where it is not in the map.

    The value is asked for first: Spark looks it up once for all that follow, and a map is searched from its start.
#}
{% macro encode_entry(map, attribute) -%}
{%- set value = map ~ "['" ~ attribute ~ "']" -%}
{%- set name = (attribute | length) ~ ':' ~ attribute -%}
coalesce(
    concat('{{ name }}', length({{ value }}), ':', {{ value }}),
    if(map_contains_key({{ map }}, '{{ attribute }}'), '{{ name }}-', '')
)
{%- endmacro %}
