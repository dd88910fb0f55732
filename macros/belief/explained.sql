{#
    Why each answer is so: one row a question and attribute, with the losers and the runner-up.

    Law S5. Under a quorum, taking out an assertion can change what was settled before, so
    there the question is asked again without it.
#}
{% macro explained(assertions, asked, rules, attributes) -%}

with {{ attest.hearing(assertions, asked, rules) }},

decided as (

    {{ attest.asked_of_everyone('questions') | indent(4) }}

),

compared as (

    {{ attest.compared('decided') | indent(4) }}

),

by_question as (

    select
        bk,
        known_by,
        period,
        at,
        map_from_entries(collect_list(struct(attribute, struct(outcome, losers, is_by_quorum, runner_up)))) as explained

    from compared
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
        {{ attest.outcome_told() | indent(8) }} as runner_up

    from ({{ attest.asked_of_everyone('asked_again') | indent(4) }})

)

select
    one.bk,
    one.at as as_at,
    nullif(one.known_by, {{ attest.forever() }}) as known_at,
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
