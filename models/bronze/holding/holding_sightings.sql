{{ sightings(evidence=with_news(ref('holding_assertions'))) }}
