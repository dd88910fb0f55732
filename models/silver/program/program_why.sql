{{ why(
    belief=ref('program_belief'),
    candidates=ref('program_candidates'),
    assertions=ref('program_states'),
    rules=ref('program_rules'),
    attributes=attributes_of('program')
) }}
