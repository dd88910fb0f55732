{{ sightings(evidence=with_news(ref('account_assertions'))) }}
