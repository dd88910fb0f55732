{{ candidates(
    assertions=ref('program_states'),
    asked=beginnings_of(ref('program_belief'), ref('program_rules')),
    rules=ref('program_rules')
) }}
