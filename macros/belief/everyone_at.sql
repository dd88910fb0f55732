{#
    The same question about every entity there is evidence of, as a relation of bk, as_at, known_at.
#}
{% macro everyone_at(assertions, as_at, known_at) -%}
(select distinct bk, {{ instant_or_null(as_at) }} as as_at, {{ instant_or_null(known_at) }} as known_at from {{ assertions }})
{%- endmacro %}
