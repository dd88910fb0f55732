{{ ignored(
    belief=ref('customer_belief'),
    types=types_declared('customer', {'name': 0})
) }}
