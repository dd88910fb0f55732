{{ basis(
    belief=ref('customer_belief'),
    evidence=ref('customer_assertions'),
    assertions=ref('customer_states'),
    rules=ref('customer_rules'),
    marks=ref('marks')
) }}
