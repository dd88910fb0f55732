{{ candidates(
    assertions=ref('customer_states'),
    asked=beginnings_of(ref('customer_belief'), ref('customer_rules')),
    rules=ref('customer_rules')
) }}
