{{ timeline(
    entity='customer',
    states=with_news(ref('customer_states')),
    attributes=attributes_of('customer')
) }}
