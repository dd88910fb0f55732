{{ states(
    arrivals=unmarked(with_news(ref('program_assertions')), ref('marks')),
    sightings=ref('program_sightings'),
    attributes=attributes_of('program')
) }}
