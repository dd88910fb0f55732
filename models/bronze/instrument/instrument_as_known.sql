{{ as_known(
    states=ref('instrument_states'),
    worlds=if_there(ref('instrument_worlds'))
) }}
