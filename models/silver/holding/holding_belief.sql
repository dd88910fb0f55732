{{ belief(
    entity='holding',
    assertions=with_news(ref('holding_states')),
    rules=ref('holding_rules'),
    attributes=attributes_of('holding')
) }}
