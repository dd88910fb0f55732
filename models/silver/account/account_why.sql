{{ why(
    belief=ref('account_belief'),
    assertions=ref('account_states'),
    rules=ref('account_rules'),
    attributes=attributes_of('account')
) }}
