{{ belief(
    entity='customer',
    assertions=with_news(ref('customer_states')),
    rules=ref('customer_rules'),
    attributes=attributes_of('customer')
) }}
