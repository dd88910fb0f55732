{{ candidates(
    assertions=ref('account_states'),
    asked=beginnings_of(ref('account_belief'), ref('account_rules')),
    rules=ref('account_rules')
) }}
