{{ states(
    arrivals=unmarked(with_news(ref('holding_assertions')), ref('marks')),
    sightings=ref('holding_sightings'),
    attributes=attributes_of('holding')
) }}
