{{ candidates(
    assertions=ref('holding_states'),
    asked=beginnings_of(ref('holding_belief'), ref('holding_rules')),
    rules=ref('holding_rules')
) }}
