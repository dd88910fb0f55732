{{ timeline(
    entity='account',
    states=ref('account_states'),
    sightings=ref('account_sightings'),
    attributes=attributes_of('account'),
    clock='arrival'
) }}
