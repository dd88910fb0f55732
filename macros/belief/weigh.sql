{#
    Weigh each source's claims under the rules in force: one candidate an attribute, in their order.

    Law S2: the greatest standing wins. A source that is not listed stands below all that
    are; highest_rank compares rank, then source time; most_recent source time, then rank;
    the total order settles ties.
#}
{% macro weigh(answers, rules, attributes) -%}

select
    answers.bk,
    answers.as_at,
    answers.known_at,
    transform(
        transform(
            array(
                {%- for attribute in attributes %}
                struct(answers.{{ attribute }} as heard, rulebook.{{ attribute }} as rules){{ ',' if not loop.last }}
                {%- endfor %}
            ),
            one -> struct(
                one.heard as heard,
                get(filter(one.rules, rule -> {{ is_in_force('rule', 'answers') | indent(16) }}), 0) as rule
            )
        ),
        one -> {{ weighed('one.heard', 'one.rule') | indent(8) }}
    ) as candidates

from {{ answers }} as answers
cross join (
    select
        {%- for attribute in attributes %}
        collect_list(struct(*)) filter (where attribute = '{{ attribute }}') as {{ attribute }}{{ ',' if not loop.last }}
        {%- endfor %}

    from {{ rules }}
) as rulebook

{%- endmacro %}


{# Law S4: effective at the instant asked about, and known at the state of knowledge asked about. #}
{% macro is_in_force(rule, question) -%}
{{ rule }}.source_system = {{ question }}.source_system
and {{ is_within(question ~ '.as_at', rule ~ '.effective_from', rule ~ '.effective_to') }}
and if(
    {{ question }}.known_at is null,
    {{ rule }}.is_in_basis,
    {{ is_within(question ~ '.known_at', rule ~ '.known_from', rule ~ '.known_to') }}
)
{%- endmacro %}


{# A source's claim with its standing, and the same for its claim before. #}
{% macro weighed(heard, rule) -%}
if({{ heard }} is null, null, struct(
    {{ standing(heard ~ '.claim', rule) | indent(4) }} as standing,
    {{ heard }}.claim as claim,
    {{ rule }}.rule_id as rule_id,
    {{ rule }}.rule as rule,
    {{ rule }}.rank as rank,
    if({{ heard }}.before is null, null, struct(
        {{ standing(heard ~ '.before', rule) | indent(8) }} as standing,
        {{ heard }}.before as claim
    )) as before
))
{%- endmacro %}


{% macro standing(claim, rule) -%}
struct(
    {{ rule }}.rule_id is not null as is_listed,
    if({{ rule }}.rule = 'highest_rank', cast({{ rule }}.rank as bigint), unix_micros({{ claim }}.source_event_ts)) as first,
    if({{ rule }}.rule = 'highest_rank', unix_micros({{ claim }}.source_event_ts), cast({{ rule }}.rank as bigint)) as second,
    {{ claim }}.position as position
)
{%- endmacro %}
