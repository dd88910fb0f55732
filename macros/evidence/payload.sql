{#
    Law E1's canonical payload: the mentions, the attributes left unchanged, the delete flag.
#}
{% macro payload(attributes) -%}
concat(
    {{ attest.encode_map('mentions', attributes) | indent(4) }},
    {{ attest.encode_list('unchanged') | indent(4) }},
    cast(is_deleted as string)
)
{%- endmacro %}
