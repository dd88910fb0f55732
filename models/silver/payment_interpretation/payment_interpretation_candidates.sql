{{ candidates(
    assertions=ref('payment_interpretation_states'),
    asked=beginnings_of(ref('payment_interpretation_belief'), ref('payment_interpretation_rules')),
    rules=ref('payment_interpretation_rules')
) }}
