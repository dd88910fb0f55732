{{ states(
    arrivals=with_news(ref('account_assertions')),
    sightings=ref('account_sightings'),
    attributes=attributes_of('account')
) }}
