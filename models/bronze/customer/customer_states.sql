{{ states(
    arrivals=with_absences(
        evidence=with_news(ref('customer_assertions')),
        absences=with_news(ref('customer_absences'))
    ),
    sightings=ref('customer_sightings'),
    attributes=attributes_of('customer')
) }}
