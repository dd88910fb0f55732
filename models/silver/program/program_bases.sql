{{ basis(
    belief=ref('program_belief'),
    evidence=ref('program_assertions'),
    assertions=ref('program_states'),
    rules=ref('program_rules'),
    marks=ref('marks')
) }}
