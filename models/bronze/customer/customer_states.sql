{{ states(
    arrivals=with_derived(
        evidence=with_news(ref('customer_assertions')),
        derived=[
            with_news(ref('customer_absences')),
            with_news(ref('customer_key_changes')),
        ]
    ),
    sightings=ref('customer_sightings'),
    attributes=attributes_of('customer')
) }}
