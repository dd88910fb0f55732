{{ as_known(
    states=ref('program_states'),
    worlds=if_there(ref('program_worlds'))
) }}
