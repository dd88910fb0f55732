{#
    Every decision names, in its field `evidence`, an assertion that the entity's evidence holds.

    A decision that rests on nothing cannot be explained to an auditor.
#}
{% test decisions_rest_on_evidence(model, assertions) %}

select
    decision.source_file,
    decision.source_record,
    decision.fields['evidence'] as evidence,
    'Rests on an assertion that is not in the evidence. Land a decision that names the right one; attest why shows them.' as problem

from {{ model }} as decision
left anti join {{ assertions }} as assertion
    on decision.fields['evidence'] = assertion.assertion_id
where decision.status = 'accepted'

{% endtest %}
