{#
    One row a question: the belief itself, for those who do not ask why.
#}
{% macro belief_at(answers, attributes) -%}

select
    bk,
    as_at,
    known_at,
    {{ attest.believed_values(attributes) | indent(4) }}

from {{ answers }}

{%- endmacro %}


{# The attributes and is_deleted, with their types, out of what is held of each. #}
{% macro believed_values(attributes) -%}
{%- for attribute, type in attributes.items() -%}
{{ attest.typed(attribute ~ '.value', type) }} as {{ attribute }},
{% endfor -%}
coalesce(cast(is_deleted.value as boolean), false) as is_deleted
{%- endmacro %}
