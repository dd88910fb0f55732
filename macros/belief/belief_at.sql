{#
    One row a question: the belief itself, for those who do not ask why.
#}
{% macro belief_at(decisions, attributes) -%}

select
    bk,
    as_at,
    known_at,
    {%- for attribute, type in attributes.items() %}
    {{ typed(attribute ~ '.value', type) }} as {{ attribute }},
    {%- endfor %}
    coalesce(cast(is_deleted.value as boolean), false) as is_deleted

from {{ decisions }}

{%- endmacro %}
