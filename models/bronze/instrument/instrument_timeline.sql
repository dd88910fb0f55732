{{ timeline(
    entity='instrument',
    states=ref('instrument_states'),
    sightings=ref('instrument_sightings'),
    attributes=attributes_of('instrument')
) }}
