{#
    Who lost to whom is picked and why, and who would be picked without the winner's assertion.

    Law S5. The winner's lane falls back to what it said before, and the very same contest is
    held again. Under a quorum that is told only where enough agree now: what was settled
    earlier may have hung on the assertion too, and `attest why` asks for that.
#}
{% macro compared(decided) -%}

select
    bk,
    known_by,
    period,
    at,
    attribute,
    decided.outcome,
    decided.is_by_quorum,
    {{ attest.losers() | indent(4) }} as losers,
    if(
        decided.outcome.assertion_id is null or outcome.caveat <=> 'unsettled',
        null,
        {{ attest.outcome_told() | indent(8) }}
    ) as runner_up

from (
    {{ attest.choose('(' ~ attest.weigh(attest.without_the_winner(decided)) ~ ')') | indent(4) }}
)

{%- endmacro %}


{# The same candidates without the winning assertion. #}
{% macro without_the_winner(decided) -%}
(
    select
        {{ attest.line() }},
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


{# What an outcome tells of itself; nothing where nobody said it. #}
{% macro outcome_told() -%}
if(outcome.assertion_id is null, null, struct(
    outcome.source_system,
    outcome.value,
    outcome.assertion_id,
    coalesce(follower.at, picked.claim.at) as source_event_ts
))
{%- endmacro %}
