{{ sightings(evidence=unmarked(with_news(ref('holding_assertions')), ref('marks'))) }}
