{{ why(
    belief=ref('customer_belief'),
    candidates=ref('customer_candidates'),
    assertions=ref('customer_states'),
    rules=ref('customer_rules'),
    attributes=attributes_of('customer')
) }}
