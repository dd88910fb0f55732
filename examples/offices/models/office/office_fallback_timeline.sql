{{ attest.timeline(
    entity='office',
    states=ref('office_states'),
    sightings=ref('office_sightings'),
    attributes=attest.attributes_of('office'),
    clock='arrival'
) }}
