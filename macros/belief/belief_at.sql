{#
    One row a question: the belief itself, for those who do not ask why.
#}
{% macro belief_at(decisions, attributes) -%}

select
    bk,
    as_at,
    known_at,
    {{ believed_values(attributes) | indent(4) }}

from {{ decisions }}

{%- endmacro %}


{# The attributes and is_deleted, out of decisions that stand in the attributes' order, is_deleted last. #}
{% macro believed_values(attributes) -%}
{%- for attribute, type in attributes.items() -%}
{{ typed('decisions[' ~ loop.index0 ~ '].value', type) }} as {{ attribute }},
{% endfor -%}
coalesce(cast(decisions[{{ attributes | length }}].value as boolean), false) as is_deleted
{%- endmacro %}
