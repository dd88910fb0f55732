{{ basis(
    belief=ref('holding_belief'),
    evidence=ref('holding_assertions'),
    assertions=ref('holding_states'),
    rules=ref('holding_rules'),
    marks=ref('marks')
) }}
