{{ audit(
    belief=ref('account_belief'),
    bases=ref('account_bases')
) }}
