{{ basis(
    belief=ref('account_belief'),
    evidence=ref('account_assertions'),
    assertions=ref('account_states'),
    rules=ref('account_rules'),
    marks=ref('marks')
) }}
