{{ audit(
    belief=ref('customer_belief'),
    bases=ref('customer_bases')
) }}
