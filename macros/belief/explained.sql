{#
    Why each answer is so: one row a question and attribute, with the losers and the runner-up.

    Law S5. Everyone is heard, listed or not, and stands side by side. The runner-up is who
    is picked once the winner's assertion is taken out, so its source's word before takes
    part; under a quorum that can change what was settled earlier, so there the question is
    asked again without it.
#}
{% macro explained(assertions, asked, rules, attributes) -%}

with spoken as (

    {{ spoken(assertions) | indent(4) }}

),

periods as (

    {{ rulebook(rules) | indent(4) }}

),

asked as (

    {{ asked | indent(4) }}

),

questions as (

    {{ questions('asked', 'periods') | indent(4) }}

),

decided as (

    {{ asked_of_everyone('questions') | indent(4) }}

),

compared as (

    {{ choose('(' ~ weigh(without_the_winner('decided')) ~ ')') | indent(4) }}

),

explained as (

    select
        {{ line() }},
        at,
        attribute,
        decided.outcome,
        decided.is_by_quorum,
        {{ losers() | indent(8) }} as losers,
        {{ runner_up('decided.outcome') | indent(8) }} as runner_up

    from compared

),

by_question as (

    select
        bk,
        known_by,
        period,
        at,
        map_from_entries(collect_list(struct(attribute, struct(outcome, losers, is_by_quorum, runner_up)))) as explained

    from explained
    group by bk, known_by, period, at

),

asked_again as (

    select distinct
        bk,
        at as as_at,
        known_by,
        outcome.assertion_id as without,
        period

    from decided
    where is_by_quorum
        and outcome.assertion_id is not null

),

decided_again as (

    select
        bk,
        known_by,
        period,
        at,
        without,
        attribute,
        {{ runner_up('outcome') | indent(8) }} as runner_up

    from ({{ asked_of_everyone('asked_again') | indent(4) }})

)

select
    one.bk,
    one.at as as_at,
    nullif(one.known_by, {{ forever() }}) as known_at,
    one.attribute,
    one.of.outcome.value,
    one.of.outcome.source_system,
    one.of.outcome.assertion_id,
    one.of.outcome.rule_id,
    one.of.outcome.caveat,
    coalesce(one.of.losers, array()) as losers,
    if(one.of.is_by_quorum, decided_again.runner_up, one.of.runner_up) as runner_up

from (
    select
        *,
        explained[attribute] as of

    from by_question
    lateral view explode(array('{{ attributes | join("', '") }}')) every as attribute
) as one
left join decided_again
    on one.bk = decided_again.bk
    and one.known_by = decided_again.known_by
    and one.period = decided_again.period
    and one.at = decided_again.at
    and one.attribute = decided_again.attribute
    and one.of.outcome.assertion_id = decided_again.without

{%- endmacro %}


{# The outcomes of these questions, everyone heard. #}
{% macro asked_of_everyone(questions) -%}
select *

from (
    {{ contest('(' ~ hear('spoken', 'periods', lines(questions)) ~ ')', everyone=true) | indent(4) }}
)
where is_asked
{%- endmacro %}


{# The same candidates without the winning assertion: its lane falls back to what it said before. #}
{% macro without_the_winner(decided) -%}
(
    select
        {{ line() }},
        attribute,
        at,
        asks_from,
        is_asked,
        struct(outcome, picked, candidates, coupling, is_by_quorum) as decided,
        filter(
            transform(candidates, one -> if(
                one.claim.assertion_id <=> outcome.assertion_id,
                struct(one.before as claim, if(false, one.before, null) as before),
                struct(one.claim, one.before)
            )),
            one -> one.claim is not null
        ) as candidates

    from {{ decided }}
)
{%- endmacro %}


{# Who would be believed instead; nobody where nobody is now. #}
{% macro runner_up(decided) -%}
if({{ decided }}.assertion_id is null or outcome.assertion_id is null, null, struct(
    outcome.source_system,
    outcome.value,
    outcome.assertion_id,
    coalesce(follower.at, picked.claim.at) as source_event_ts
))
{%- endmacro %}
