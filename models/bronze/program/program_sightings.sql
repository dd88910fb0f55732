{{ sightings(evidence=unmarked(with_news(ref('program_assertions')), ref('marks'))) }}
