{{ sightings(evidence=with_news(ref('customer_assertions'))) }}
