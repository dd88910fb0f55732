{{ why(
    belief=ref('account_belief'),
    candidates=ref('account_candidates'),
    assertions=ref('account_states'),
    rules=ref('account_rules'),
    attributes=attributes_of('account')
) }}
