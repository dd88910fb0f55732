{{ timeline(
    entity='program',
    states=ref('program_states'),
    sightings=ref('program_sightings'),
    attributes=attributes_of('program'),
    clock='arrival'
) }}
