{{ states(
    arrivals=with_news(ref('program_assertions')),
    sightings=ref('program_sightings'),
    attributes=attributes_of('program')
) }}
