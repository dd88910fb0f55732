{#
    Each source's latest claim that did not win, and in English why.
#}
{% macro losers() -%}
transform(
    filter(
        decided.candidates,
        one -> one.claim.role = 'own'
            and not one.claim.assertion_id <=> decided.outcome.assertion_id
            and not exists(
                decided.candidates,
                other -> other.claim.role = 'own'
                    and other.claim.source_system = one.claim.source_system
                    and other.claim.position > one.claim.position
            )
    ),
    loser -> struct(
        loser.claim.source_system as source_system,
        loser.claim.value as value,
        loser.claim.assertion_id as assertion_id,
        loser.claim.at as source_event_ts,
        {{ attest.why_it_lost('loser', 'decided.picked') | indent(8) }} as reason
    )
)
{%- endmacro %}
