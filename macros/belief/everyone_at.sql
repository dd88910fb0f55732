{#
    The same question about every entity there is evidence of, as a relation of bk, as_at, known_at.
#}
{% macro everyone_at(assertions, as_at, known_at) -%}
(select distinct bk, {{ attest.instant_or_null(as_at) }} as as_at, {{ attest.instant_or_null(known_at) }} as known_at from {{ assertions }})
{%- endmacro %}


{# What is said of some entities: `keys` is one business key or a list of them; none, and it is all that is said. #}
{% macro of_keys(assertions, keys=none) -%}
{%- if keys is none -%}
{{ assertions }}
{%- else -%}
{%- set wanted = [keys] if keys is string else keys -%}
(
    select *

    from {{ assertions }}
    where bk in ({% for key in wanted %}{{ attest.quoted(key) }}, {% endfor %}null)
)
{%- endif -%}
{%- endmacro %}
