{#
    What is believed was said, by then, by the source that it names, and a rule allows it.

    Law S5. A belief without a winner has no value.
#}
{% test every_belief_names_its_evidence_and_rule(model) %}

select *

from (
    select
        bk,
        attribute,
        effective_from,
        source_system,
        assertion_id,
        source_event_ts,
        rule_id,
        case
            when assertion_id is null and value is not null
                then 'Has a value that nobody said. Rebuild the belief with --full-refresh.'
            when assertion_id is not null and source_event_ts is null
                then 'The winning assertion is not in the evidence. Rebuild the belief with --full-refresh.'
            when source_event_ts > effective_from
                then 'Is believed before it was said. Rebuild the belief with --full-refresh.'
            when assertion_id is not null and attribute_group is null
                then 'The deciding rule is not in the seeds. Rows are not removed, they are closed by known_to: put it back.'
        end as problem

    from {{ model }}
)
where problem is not null

{% endtest %}
