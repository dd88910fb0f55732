{{ states(
    arrivals=with_news(ref('payment_interpretation_assertions')),
    attributes=attributes_of('payment_interpretation')
) }}
