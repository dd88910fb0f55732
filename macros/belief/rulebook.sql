{#
    The rules as one row a period in which the same ones hold, on both clocks.

        known        |---- before June ----[--------- since June --------- …      and the basis
        effective    |--- 1 ---[--- 2 ---- …    |--- 3 ---[- 4 -[--- 5 --- …

    Law S4: a question is judged by the rules in force at the instant it asks about, as they
    were known at the instant it asks from; so they judge all that had been said by then. A
    period has its rules by source and attribute, as small maps that every row can carry.
#}
{% macro rulebook(rules) -%}

select
    row_number() over (order by is_basis, known_from, effective_from) as period,
    is_basis,
    known_from,
    coalesce(known_to, {{ attest.forever() }}) as known_until,
    effective_from,
    coalesce(effective_to, {{ attest.forever() }}) as effective_until,
    map_from_entries(transform(
        array_distinct(array_compact(transform(in_force, rule -> rule.source_system))),
        source -> struct(source, map_from_entries(transform(
            filter(in_force, rule -> rule.source_system = source),
            rule -> struct(rule.attribute, {{ attest.rule_of_a_source('rule') | indent(12) }})
        )))
    )) as by_source,
    transform(
        filter(in_force, rule -> rule.rule = 'coupled_to'),
        rule -> struct(rule.attribute, rule.lead_attribute, rule.rule_id)
    ) as couplings,
    array_distinct(transform(
        filter(in_force, rule -> rule.rule not in ('highest_rank', 'most_recent') or rule.fresh_micros is not null),
        rule -> rule.attribute
    )) as contested,
    array_distinct(transform(filter(in_force, rule -> rule.clock = 'arrival'), rule -> rule.source_system)) as by_arrival

from (
    select
        is_basis,
        known_from,
        known_to,
        period.effective_from,
        period.effective_to,
        filter(held, rule -> {{ attest.is_within('period.effective_from', 'rule.effective_from', 'rule.effective_to') }}) as in_force

    from (
        select
            knowledge.*,
            filter(
                rules,
                rule -> if(
                    knowledge.is_basis,
                    rule.is_in_basis,
                    {{ attest.is_within('knowledge.known_from', 'rule.known_from', 'rule.known_to') }}
                )
            ) as held

        from (
            select
                rules,
                explode(array_append(
                    {{ attest.periods_between('rules', 'known_from', 'known_to', 'false as is_basis') | indent(20) }},
                    struct({{ attest.the_beginning() }} as known_from, cast(null as timestamp) as known_to, true as is_basis)
                )) as knowledge

            from (select collect_list(struct(*)) as rules from {{ rules }})
        )
    )
    lateral view explode({{ attest.periods_between('held', 'effective_from', 'effective_to', 'true as is_effective') | indent(4) }}) as period
)

{%- endmacro %}


{# What the engine needs of a rule, without the words of people. #}
{% macro rule_of_a_source(rule) -%}
struct(
    {{ rule }}.rule_id,
    {{ rule }}.rule,
    cast({{ rule }}.rank as bigint) as rank,
    coalesce({{ rule }}.clock, 'source') as clock,
    {{ rule }}.fresh_micros,
    {{ rule }}.quorum,
    coalesce({{ rule }}.may_clear, false) as may_clear,
    split({{ rule }}.severity_order, ' < ') as severity_order
)
{%- endmacro %}


{# All boundaries of some rules on one clock, as periods from one to the next; the first begins with time itself. #}
{% macro periods_between(rules, start, end, more) -%}
transform(
    {{ attest.boundaries(rules, start, end) }},
    (at, place) -> struct(
        at as {{ start }},
        get({{ attest.boundaries(rules, start, end) }}, place + 1) as {{ end }},
        {{ more }}
    )
)
{%- endmacro %}


{% macro boundaries(rules, start, end) -%}
array_sort(array_distinct(array_compact(flatten(array(
    array({{ attest.the_beginning() }}), transform({{ rules }}, rule -> rule.{{ start }}), transform({{ rules }}, rule -> rule.{{ end }})
)))))
{%- endmacro %}


{% macro the_beginning() %}timestamp '0001-01-01'{% endmacro %}


{% macro forever() %}timestamp '9999-12-31 23:59:59.999999'{% endmacro %}
