{#
    Silver: one row a belief interval of an entity, with the winner of every attribute.

        evidence   CRM ---x-----------x--->
                   CORE -------x---------->
        belief     [---[--[----[------[---…   each half-open, none empty

    Law S7: neighbours equal in values, winning sources and rules are one interval; what it
    names is as it was at its start.
#}
{% macro belief(entity, assertions, rules, attributes) -%}

{%- set believed = attributes.keys() | list + ['is_deleted'] -%}

with decided as (

    {{ attest.history(attest.in_basis(assertions, rules), rules, believed) | indent(4) }}

),

marked as (

    select
        *,
        {%- for attribute in believed %}
        {{ 'or ' if not loop.first }}not {{ attest.told(attribute) }} <=> lag({{ attest.told(attribute) }}) over in_time
        {%- endfor %} as starts_interval

    from decided
    window in_time as (partition by bk order by at)

)

select
    bk,
    {{ attest.surrogate_key(entity) }} as sk,
    at as effective_from,
    lead(at) over in_time as effective_to,
    {{ attest.believed_values(attributes) | indent(4) }},
    coalesce(
        {%- for attribute in attributes %}
        {{ attribute }}.assertion_id{{ ',' if not loop.last }}
        {%- endfor %}
    ) is not null as is_anything_believed,
    {%- for attribute in believed %}
    {{ attribute }}.source_system as {{ attribute }}_source,
    {{ attribute }}.assertion_id as {{ attribute }}_assertion,
    {{ attribute }}.rule_id as {{ attribute }}_rule,
    {{ attribute }}.caveat as {{ attribute }}_caveat{{ ',' if not loop.last }}
    {%- endfor %}

from marked
where starts_interval
window in_time as (partition by bk order by at)

{%- endmacro %}


{# What makes a belief another one. #}
{% macro told(attribute) -%}
struct({{ attribute }}.value, {{ attribute }}.source_system, {{ attribute }}.rule_id, {{ attribute }}.caveat)
{%- endmacro %}


{# The evidence that the build's basis knows: all of it, unless the basis is set. #}
{% macro in_basis(assertions, rules) -%}
(
    select *

    from {{ assertions }}
    where known_from <= coalesce((select max(basis_set) from {{ rules }}), {{ attest.forever() }})
)
{%- endmacro %}
