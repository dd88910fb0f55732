{#
    One row an entity, attribute and belief interval: the value, the winner with its provenance,
    the rule, each loser with its reason, and the runner-up, as they stood when it began.

    The winner is the belief's own; `candidates` are everyone's claims when it began.
#}
{% macro why(belief, candidates, assertions, rules, attributes) -%}

{%- set believed = attributes.keys() | list + ['is_deleted'] -%}

with unfolded as (

    select
        bk,
        sk,
        effective_from,
        effective_to,
        one.*

    from {{ belief }}
    lateral view explode(array(
        {%- for attribute in believed %}
        struct(
            '{{ attribute }}' as attribute,
            {{ attribute }}_source as source_system,
            {{ attribute }}_assertion as assertion_id,
            {{ attribute }}_rule as rule_id,
            {{ attribute }}_caveat as caveat
        ){{ ',' if not loop.last }}
        {%- endfor %}
    )) as one

),

compared as (

    {{ attest.compared(candidates) | indent(4) }}

),

rule_set as (

    {{ attest.rule_set_hash(rules) | indent(4) }}

)

select
    unfolded.bk,
    unfolded.sk,
    unfolded.effective_from,
    unfolded.effective_to,
    unfolded.attribute,
    {{ attest.plain('compared.outcome.value') }} as value,
    unfolded.source_system,
    unfolded.assertion_id,
    unfolded.caveat,
    winner.source_event_ts,
    winner.ingest_ts,
    winner.is_backfilled,
    winner.feed,
    winner.source_file,
    winner.source_record,
    winner.ingest_run_id,
    winner.remark,
    rule.attribute_group,
    rule.rule,
    rule.rank,
    unfolded.rule_id,
    rule.reason as rule_reason,
    rule_set.rule_set_hash,
    coalesce(transform(compared.losers, one -> {{ attest.with_plain_value('one', ['assertion_id', 'source_event_ts', 'reason']) }}), array()) as losers,
    if(
        compared.runner_up is null,
        null,
        {{ attest.with_plain_value('compared.runner_up', ['assertion_id', 'source_event_ts']) }}
    ) as runner_up

from unfolded
left join compared
    on unfolded.bk = compared.bk
    and unfolded.effective_from = compared.at
    and unfolded.attribute = compared.attribute
left join {{ assertions }} as winner
    on unfolded.bk = winner.bk and unfolded.assertion_id = winner.assertion_id
left join {{ rules }} as rule
    on unfolded.attribute = rule.attribute and unfolded.rule_id = rule.rule_id
cross join rule_set

{%- endmacro %}


{# The same claim, its value as people write it. #}
{% macro with_plain_value(claim, others) -%}
struct(
    {{ claim }}.source_system as source_system,
    {{ attest.plain(claim ~ '.value') }} as value
    {%- for name in others %},
    {{ claim }}.{{ name }} as {{ name }}
    {%- endfor %}
)
{%- endmacro %}
