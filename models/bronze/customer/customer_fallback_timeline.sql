{{ timeline(
    entity='customer',
    states=ref('customer_states'),
    sightings=ref('customer_sightings'),
    attributes=attributes_of('customer'),
    clock='arrival'
) }}
