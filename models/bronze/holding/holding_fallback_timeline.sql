{{ timeline(
    entity='holding',
    states=ref('holding_states'),
    sightings=ref('holding_sightings'),
    attributes=attributes_of('holding'),
    clock='arrival'
) }}
