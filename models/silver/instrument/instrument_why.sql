{{ why(
    belief=ref('instrument_belief'),
    candidates=ref('instrument_candidates'),
    assertions=ref('instrument_states'),
    rules=ref('instrument_rules'),
    attributes=attributes_of('instrument')
) }}
