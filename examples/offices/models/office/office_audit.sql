{{ attest.audit(
    belief=ref('office_belief'),
    bases=ref('office_bases')
) }}
