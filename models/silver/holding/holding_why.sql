{{ why(
    belief=ref('holding_belief'),
    assertions=ref('holding_states'),
    rules=ref('holding_rules'),
    attributes=attributes_of('holding')
) }}
