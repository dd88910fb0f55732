{#
    Each row as one map of text, so that rows of any shape are compared, kept and played back alike.

    Every digit is kept: times to the microsecond, decimals whole, lists and maps as JSON. JSON all the
    way would read a long decimal as a float.
#}
{% macro image_of(rows, row_key) -%}

select
    bk,
    {{ row_key }},
    variant_get(to_variant_object(struct(*)), '$', 'map<string, string>') as held

from {{ rows }}

{%- endmacro %}
