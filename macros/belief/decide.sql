{#
    One row a question: for each attribute who won, under which rule, and why the others lost.

    Law S5. A candidate is a source's latest claim. The runner-up is the winner over the
    evidence without the winning assertion, so the winner's own earlier claim takes part.
#}
{% macro decide(weighed, attributes) -%}

select
    bk,
    as_at,
    known_at,
    {%- for attribute in attributes %}
    transform(array({{ attribute }}), candidates -> {{ decision('candidates') | indent(4) }})[0] as {{ attribute }}{{ ',' if not loop.last }}
    {%- endfor %}

from (
    select
        bk,
        as_at,
        known_at,
        {%- for attribute in attributes %}
        sort_array(collect_list({{ attribute }}), false) as {{ attribute }}{{ ',' if not loop.last }}
        {%- endfor %}

    from {{ weighed }}
    group by bk, as_at, known_at
)

{%- endmacro %}


{# `candidates` are sorted, the greatest standing first; the first one wins if it is listed at all. #}
{% macro decision(candidates) -%}
struct(
    {{ winning(candidates, 'claim.value') }} as value,
    {{ winning(candidates, 'claim.source_system') }} as source_system,
    {{ winning(candidates, 'claim.assertion_id') }} as assertion_id,
    {{ winning(candidates, 'claim.source_event_ts') }} as source_event_ts,
    {{ winning(candidates, 'rule_id') }} as rule_id,
    {{ winning(candidates, 'rule') }} as rule,
    {{ winning(candidates, 'rank') }} as rank,
    transform(
        filter({{ candidates }}, (loser, place) -> place > 0 or not loser.standing.is_listed),
        loser -> struct(
            loser.claim.source_system as source_system,
            loser.claim.value as value,
            loser.claim.assertion_id as assertion_id,
            loser.claim.source_event_ts as source_event_ts,
            {{ why_it_lost('loser', candidates ~ '[0]') | indent(12) }} as reason
        )
    ) as losers,
    {{ runner_up(candidates) | indent(4) }} as runner_up
)
{%- endmacro %}


{% macro winning(candidates, field) -%}
if(get({{ candidates }}, 0).standing.is_listed, get({{ candidates }}, 0).{{ field }}, null)
{%- endmacro %}


{% macro runner_up(candidates) -%}
if(get({{ candidates }}, 0).standing.is_listed, array_max(array_compact(array_append(
    transform(
        filter({{ candidates }}, (other, place) -> place > 0 and other.standing.is_listed),
        other -> struct(other.standing, other.claim)
    ),
    get({{ candidates }}, 0).before
))), null).claim
{%- endmacro %}
