{{ attest.basis(
    belief=ref('office_belief'),
    evidence=ref('office_assertions'),
    assertions=ref('office_states'),
    rules=ref('office_rules'),
    marks=ref('marks')
) }}
