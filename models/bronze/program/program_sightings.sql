{{ sightings(evidence=with_news(ref('program_assertions'))) }}
