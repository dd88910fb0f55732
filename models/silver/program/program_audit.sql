{{ audit(
    belief=ref('program_belief'),
    bases=ref('program_bases')
) }}
