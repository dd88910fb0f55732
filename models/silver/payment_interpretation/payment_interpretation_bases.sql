{{ basis(
    belief=ref('payment_interpretation_belief'),
    evidence=ref('payment_interpretation_assertions'),
    assertions=ref('payment_interpretation_states'),
    rules=ref('payment_interpretation_rules'),
    marks=ref('marks')
) }}
