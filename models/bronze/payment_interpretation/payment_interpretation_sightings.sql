{{ sightings(evidence=with_news(ref('payment_interpretation_assertions'))) }}
