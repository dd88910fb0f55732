{{ ordered(
    arrivals=ref('holding_assertions'),
    attributes=attributes_of('holding')
) }}
