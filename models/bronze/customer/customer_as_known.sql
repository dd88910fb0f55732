{{ as_known(
    states=ref('customer_states'),
    worlds=if_there(ref('customer_worlds'))
) }}
