{{ timeline(
    entity='holding',
    states=with_news(ref('holding_states')),
    attributes=attributes_of('holding')
) }}
