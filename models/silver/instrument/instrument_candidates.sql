{{ candidates(
    assertions=ref('instrument_states'),
    asked=beginnings_of(ref('instrument_belief'), ref('instrument_rules')),
    rules=ref('instrument_rules')
) }}
