{{ attest.candidates(
    assertions=ref('office_states'),
    asked=attest.beginnings_of(ref('office_belief'), ref('office_rules')),
    rules=ref('office_rules')
) }}
