{{ as_known(
    states=ref('payment_interpretation_states'),
    worlds=if_there(ref('payment_interpretation_worlds'))
) }}
