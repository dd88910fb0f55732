{#
    Every rule ever written for an entity, one row an attribute and rule row, with the build's basis.

    Law S4 has two clocks: `effective_*` say for which times of the facts a rule holds,
    `known_*` when it was ours. The basis is the newest arrival or the newest rule that is
    known by now, whichever is later, unless it is set.
#}
{% macro rules_of(entity, precedence, attribute_groups, assertions, basis=none) -%}

with rules as (

    select
        grouped.attribute,
        rule.*,
        lead.attribute as lead_attribute,
        {{ attest.micros_of('rule.freshness_limit') }} as fresh_micros,
        -- Closing a row makes it no other rule: known_to is left out.
        substring(sha2(to_json(struct(rule.* except (known_to))), 256), 1, 16) as rule_id  -- noqa: LT01, LT06

    from {{ precedence }} as rule
    inner join {{ attribute_groups }} as grouped
        on rule.entity = grouped.entity and rule.attribute_group = grouped.attribute_group
    left join {{ attribute_groups }} as lead
        on rule.entity = lead.entity and rule.coupled_to = lead.attribute_group
    where rule.entity = '{{ entity }}'

),

basis as (

    {%- if basis is none %}

    select greatest(
        (select max(known_from) from {{ assertions }}),
        (select max(if(known_from <= current_timestamp(), known_from, null)) from rules)
    ) as known_at
    {%- else %}

    select timestamp '{{ basis }}' as known_at
    {%- endif %}

)

select
    rules.*,
    {{ attest.is_within('basis.known_at', 'rules.known_from', 'rules.known_to') }} as is_in_basis,
    {{ "cast(null as timestamp)" if basis is none else "basis.known_at" }} as basis_set

from rules
cross join basis

{%- endmacro %}


{# Law C1: intervals are half-open, and null means open. #}
{% macro is_within(instant, start, end) -%}
{{ start }} <= {{ instant }} and ({{ end }} is null or {{ instant }} < {{ end }})
{%- endmacro %}


{# A limit such as `90 days` or `12 hours`, in microseconds. #}
{% macro micros_of(limit) -%}
try_cast(split({{ limit }}, ' ')[0] as bigint) * if({{ limit }} like '%hour%', 3600000000, 86400000000)
{%- endmacro %}

