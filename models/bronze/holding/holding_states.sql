{{ states(
    arrivals=with_news(ref('holding_assertions')),
    attributes=attributes_of('holding')
) }}
