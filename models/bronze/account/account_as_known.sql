{{ as_known(
    states=ref('account_states'),
    worlds=if_there(ref('account_worlds'))
) }}
