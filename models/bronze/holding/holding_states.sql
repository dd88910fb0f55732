{{ states(
    arrivals=with_news(ref('holding_assertions')),
    sightings=ref('holding_sightings'),
    attributes=attributes_of('holding')
) }}
