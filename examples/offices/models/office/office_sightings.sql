{{ attest.sightings(evidence=attest.unmarked(attest.with_news(ref('office_assertions')), ref('marks'))) }}
