{{ why(
    belief=ref('customer_belief'),
    assertions=ref('customer_states'),
    rules=ref('customer_rules'),
    attributes=attributes_of('customer')
) }}
