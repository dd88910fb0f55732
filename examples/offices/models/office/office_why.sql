{{ attest.why(
    belief=ref('office_belief'),
    candidates=ref('office_candidates'),
    assertions=ref('office_states'),
    rules=ref('office_rules'),
    attributes=attest.attributes_of('office')
) }}
