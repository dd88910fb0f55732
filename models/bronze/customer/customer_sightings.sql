{{ sightings(evidence=unmarked(with_news(ref('customer_assertions')), ref('marks'))) }}
