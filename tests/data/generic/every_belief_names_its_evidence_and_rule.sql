{#
    What is believed was said, by then, by the source that it names, and a rule allows it.

    Law S5. A belief without a winner has no value.
#}
{% test every_belief_names_its_evidence_and_rule(model, assertions, rules, entity) %}

{%- set believed = attest.attributes_of(entity).keys() | list + ['is_deleted'] -%}

select *

from (
    select
        belief.bk,
        belief.attribute,
        belief.effective_from,
        belief.source_system,
        belief.assertion_id,
        belief.rule_id,
        case
            when belief.assertion_id is null and belief.has_value
                then 'Has a value that nobody said. Rebuild the belief with --full-refresh.'
            when belief.assertion_id is not null and winner.bk is null
                then 'The winning assertion is not in the evidence. Rebuild the belief with --full-refresh.'
            when winner.effective_ts > belief.effective_from
                then 'Is believed before it was said. Rebuild the belief with --full-refresh.'
            when belief.assertion_id is not null and rule.rule_id is null
                then 'The deciding rule is not in the seeds. Rows are not removed, they are closed by known_to: put it back.'
        end as problem

    from (
        select
            bk,
            effective_from,
            one.*

        from {{ model }}
        lateral view explode(array(
            {%- for attribute in believed %}
            struct(
                '{{ attribute }}' as attribute,
                {{ 'is_deleted' if attribute == 'is_deleted' else attribute ~ ' is not null' }} as has_value,
                {{ attribute }}_source as source_system,
                {{ attribute }}_assertion as assertion_id,
                {{ attribute }}_rule as rule_id
            ){{ ',' if not loop.last }}
            {%- endfor %}
        )) as one
    ) as belief
    left join {{ assertions }} as winner
        on belief.bk = winner.bk and belief.assertion_id = winner.assertion_id
    left join {{ rules }} as rule
        on belief.attribute = rule.attribute and belief.rule_id = rule.rule_id
)
where problem is not null

{% endtest %}
