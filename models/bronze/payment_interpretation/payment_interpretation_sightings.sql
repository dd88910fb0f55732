{{ sightings(evidence=unmarked(with_news(ref('payment_interpretation_assertions')), ref('marks'))) }}
