{{ basis(
    belief=ref('instrument_belief'),
    evidence=ref('instrument_assertions'),
    assertions=ref('instrument_states'),
    rules=ref('instrument_rules'),
    marks=ref('marks')
) }}
