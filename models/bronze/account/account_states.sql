{{ states(
    arrivals=unmarked(with_news(ref('account_assertions')), ref('marks')),
    sightings=ref('account_sightings'),
    attributes=attributes_of('account')
) }}
