{{ sightings(evidence=with_news(ref('instrument_assertions'))) }}
