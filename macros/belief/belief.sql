{#
    Silver: one row a belief interval of an entity, with the winner of every attribute.

        evidence   CRM ---x-----------x--->
                   CORE -------x---------->
        belief     [---[--[----[------[---…   each half-open, none empty

    Law S7: neighbours equal in values, winning sources and rules are one interval.
#}
{% macro belief(entity, assertions, rules, attributes) -%}

{%- set believed = attributes.keys() | list + ['is_deleted'] -%}

with decided as (

    {{ decisions(assertions, turning_points(assertions, rules), rules, believed) | indent(4) }}

),

marked as (

    select
        *,
        not held <=> lag(held) over in_time as starts_interval

    from (
        select
            *,
            transform(decisions, one -> struct(one.value, one.source_system, one.rule_id)) as held

        from decided
    ) as compared
    window in_time as (partition by bk order by as_at)

),

rule_set as (

    select sha2(array_join(array_sort(collect_set(rule_id)), ','), 256) as rule_set_hash

    from {{ rules }}
    where is_in_basis

)

select
    bk,
    {{ surrogate_key(entity) }} as sk,
    as_at as effective_from,
    lead(as_at) over in_time as effective_to,
    {{ believed_values(attributes) | indent(4) }},
    exists(slice(decisions, 1, {{ attributes | length }}), one -> one.assertion_id is not null) as is_anything_believed,
    {%- for attribute in believed %}
    decisions[{{ loop.index0 }}].source_system as {{ attribute }}_source,
    decisions[{{ loop.index0 }}].assertion_id as {{ attribute }}_assertion,
    {%- endfor %}
    rule_set_hash,
    decisions

from marked
cross join rule_set
where starts_interval
window in_time as (partition by bk order by as_at)

{%- endmacro %}
