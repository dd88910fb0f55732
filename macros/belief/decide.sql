{#
    One row a question: for each attribute who won, under which rule, and why the others lost.

    Law S5. A candidate is a source's latest claim; the greatest standing wins if it is listed
    at all. The runner-up is the winner over the evidence without the winning assertion, so
    the winner's own earlier claim takes part.
#}
{% macro decide(weighed, attributes) -%}

select
    bk,
    as_at,
    known_at,
    transform(
        -- Each attribute's candidates of all sources, the greatest standing first, and the winner.
        transform(
            array('{{ attributes | join("', '") }}'),
            (attribute, place) -> struct(
                attribute,
                sort_array(array_compact(transform(sources, candidates -> candidates[place])), false) as candidates,
                array_max(filter(
                    transform(sources, candidates -> candidates[place]),
                    candidate -> candidate.standing.is_listed
                )) as winner
            )
        ),
        one -> {{ decision('one.attribute', 'one.candidates', 'one.winner') | indent(8) }}
    ) as decisions

from (
    select
        bk,
        as_at,
        known_at,
        collect_list(candidates) as sources

    from {{ weighed }}
    group by bk, as_at, known_at
) as questions

{%- endmacro %}


{% macro decision(attribute, candidates, winner) -%}
struct(
    {{ attribute }} as attribute,
    {{ winner }}.claim.value as value,
    {{ winner }}.claim.source_system as source_system,
    {{ winner }}.claim.assertion_id as assertion_id,
    {{ winner }}.claim.source_event_ts as source_event_ts,
    {{ winner }}.rule_id as rule_id,
    {{ winner }}.rule as rule,
    {{ winner }}.rank as rank,
    transform(
        filter({{ candidates }}, (loser, place) -> place > 0 or {{ winner }} is null),
        loser -> struct(
            loser.claim.source_system as source_system,
            loser.claim.value as value,
            loser.claim.assertion_id as assertion_id,
            loser.claim.source_event_ts as source_event_ts,
            {{ why_it_lost('loser', winner) | indent(12) }} as reason
        )
    ) as losers,
    array_max(array_compact(array_append(
        transform(
            filter({{ candidates }}, (other, place) -> place > 0 and other.standing.is_listed),
            other -> struct(other.standing, other.claim)
        ),
        {{ winner }}.before
    ))).claim as runner_up
)
{%- endmacro %}
