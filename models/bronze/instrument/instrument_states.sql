{{ states(
    arrivals=with_derived(
        evidence=unmarked(with_news(ref('instrument_assertions')), ref('marks')),
        derived=[with_news(ref('instrument_absences'))]
    ),
    sightings=ref('instrument_sightings'),
    attributes=attributes_of('instrument'),
    untracked=untracked_of('instrument')
) }}
