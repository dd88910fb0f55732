{{ timeline(
    entity='payment_interpretation',
    states=with_news(ref('payment_interpretation_states')),
    attributes=attributes_of('payment_interpretation')
) }}
