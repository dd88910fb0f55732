{{ sightings(evidence=unmarked(with_news(ref('instrument_assertions')), ref('marks'))) }}
