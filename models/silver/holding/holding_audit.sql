{{ audit(
    belief=ref('holding_belief'),
    bases=ref('holding_bases')
) }}
