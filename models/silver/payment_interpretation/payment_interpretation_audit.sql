{{ audit(
    belief=ref('payment_interpretation_belief'),
    bases=ref('payment_interpretation_bases')
) }}
