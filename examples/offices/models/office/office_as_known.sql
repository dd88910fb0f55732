{{ attest.as_known(
    states=ref('office_states'),
    worlds=attest.if_there(ref('office_worlds'))
) }}
