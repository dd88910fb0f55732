{{ states(
    arrivals=with_news(ref('payment_interpretation_assertions')),
    sightings=ref('payment_interpretation_sightings'),
    attributes=attributes_of('payment_interpretation')
) }}
