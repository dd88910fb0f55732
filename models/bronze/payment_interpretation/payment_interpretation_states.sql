{{ states(
    arrivals=unmarked(with_news(ref('payment_interpretation_assertions')), ref('marks')),
    sightings=ref('payment_interpretation_sightings'),
    attributes=attributes_of('payment_interpretation')
) }}
