{#
    One row an entity, attribute and belief interval: the value, the winner with its provenance,
    the rule, each loser with its reason, and the runner-up.

    Unfolded from the belief itself, so that the two can never disagree.
#}
{% macro why(belief, assertions, rules) -%}

with unfolded as (

    select
        bk,
        sk,
        effective_from,
        effective_to,
        rule_set_hash,
        one.decision

    from {{ belief }}
    lateral view explode(decisions) one as decision

)

select
    unfolded.bk,
    unfolded.sk,
    unfolded.effective_from,
    unfolded.effective_to,
    unfolded.decision.attribute,
    unfolded.decision.value,
    unfolded.decision.source_system,
    unfolded.decision.assertion_id,
    winner.source_event_ts,
    winner.ingest_ts,
    winner.is_backfilled,
    winner.feed,
    winner.source_file,
    winner.source_record,
    winner.ingest_run_id,
    rule.attribute_group,
    unfolded.decision.rule,
    unfolded.decision.rank,
    unfolded.decision.rule_id,
    rule.reason as rule_reason,
    unfolded.rule_set_hash,
    unfolded.decision.losers,
    unfolded.decision.runner_up

from unfolded
left join {{ assertions }} as winner
    on unfolded.bk = winner.bk and unfolded.decision.assertion_id = winner.assertion_id
left join {{ rules }} as rule
    on unfolded.decision.attribute = rule.attribute and unfolded.decision.rule_id = rule.rule_id

{%- endmacro %}
