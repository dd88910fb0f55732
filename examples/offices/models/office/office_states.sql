{{ attest.states(
    arrivals=attest.unmarked(attest.with_news(ref('office_assertions')), ref('marks')),
    sightings=ref('office_sightings'),
    attributes=attest.attributes_of('office')
) }}
