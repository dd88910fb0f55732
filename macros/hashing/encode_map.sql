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
    if(map_contains_key({{ map }}, '{{ attribute }}'), concat('{{ attribute | length }}:{{ attribute }}', {{ attest.encode(map ~ "['" ~ attribute ~ "']") }}), '')
    {%- endfor %}
)
{%- endmacro %}
