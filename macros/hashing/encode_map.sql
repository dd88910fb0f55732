{#
    A map of attribute to canonical value as one text, attributes by name.

    Law B5: an attribute that is not in the map is unknown and leaves no trace, so an
    attribute that is introduced later changes no hash made before. The count goes first, as lengths do.
#}
{% macro encode_map(map) -%}
concat(size({{ map }}), '#', array_join(transform(
    array_sort(map_keys({{ map }})),
    attribute -> concat({{ encode('attribute') }}, {{ encode(map ~ '[attribute]') }})
), ''))
{%- endmacro %}
