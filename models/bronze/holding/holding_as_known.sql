{{ as_known(
    states=ref('holding_states'),
    worlds=if_there(ref('holding_worlds'))
) }}
