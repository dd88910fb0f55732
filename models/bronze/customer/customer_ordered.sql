{{ ordered(
    arrivals=ref('customer_assertions'),
    attributes=attributes_of('customer')
) }}
