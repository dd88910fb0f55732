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

with spoken as (

    {{ spoken(assertions) | indent(4) }}
    where known_from <= coalesce((select max(basis_set) from {{ rules }}), {{ forever() }})

),

periods as (

    select *

    from ({{ rulebook(rules) | indent(4) }})
    where is_basis

),

heard as (

    {{ hear('spoken', 'periods') | indent(4) }}

),

contests as (

    {{ contest(contested('spoken', 'periods')) | indent(4) }}

),

turns as (

    {{ turns_of_rules('spoken', 'periods') | indent(4) }}

),

decided as (

    {{ line_of_time('heard', 'contests', 'turns', believed) | indent(4) }}

),

marked as (

    select
        *,
        {%- for attribute in believed %}
        not {{ told(attribute) }} <=> lag({{ told(attribute) }}) over in_time{{ ' or' if not loop.last else ' as starts_interval' }}
        {%- endfor %}

    from decided
    window in_time as (partition by bk order by at)

)

select
    bk,
    {{ surrogate_key(entity) }} as sk,
    at as effective_from,
    lead(at) over in_time as effective_to,
    {{ believed_values(attributes) | indent(4) }},
    {%- for attribute in attributes %}
    {{ attribute }}.assertion_id is not null{{ ' or' if not loop.last else ' as is_anything_believed' }}
    {%- endfor %},
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


{# Where other rules come into force after an entity was first heard of: all that is asked of a whole history. #}
{% macro turns_of_rules(spoken, periods) -%}
select distinct
    said.bk,
    {{ forever() }} as known_by,
    '' as without,
    period.period,
    period.effective_from as as_at

from {{ spoken }} as said
inner join {{ periods }} as period
    on said.at < period.effective_from
{%- endmacro %}
