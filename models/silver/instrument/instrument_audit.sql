{{ audit(
    belief=ref('instrument_belief'),
    bases=ref('instrument_bases')
) }}
