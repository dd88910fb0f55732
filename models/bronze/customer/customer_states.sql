{{ states(
    arrivals=with_derived(
        evidence=unmarked(with_news(ref('customer_assertions')), ref('marks')),
        derived=[
            with_news(ref('customer_absences')),
            with_news(ref('customer_key_changes')),
        ]
    ),
    sightings=ref('customer_sightings'),
    attributes=attributes_of('customer')
) }}
