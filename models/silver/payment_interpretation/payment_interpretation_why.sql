{{ why(
    belief=ref('payment_interpretation_belief'),
    candidates=ref('payment_interpretation_candidates'),
    assertions=ref('payment_interpretation_states'),
    rules=ref('payment_interpretation_rules'),
    attributes=attributes_of('payment_interpretation')
) }}
