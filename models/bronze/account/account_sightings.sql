{{ sightings(evidence=unmarked(with_news(ref('account_assertions')), ref('marks'))) }}
