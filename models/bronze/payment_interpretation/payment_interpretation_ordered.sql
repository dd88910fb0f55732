{{ ordered(
    arrivals=ref('payment_interpretation_assertions'),
    attributes=attributes_of('payment_interpretation')
) }}
