{{ why(
    belief=ref('holding_belief'),
    candidates=ref('holding_candidates'),
    assertions=ref('holding_states'),
    rules=ref('holding_rules'),
    attributes=attributes_of('holding')
) }}
