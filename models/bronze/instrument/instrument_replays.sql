{{ replays(
    landing=with_news(ref('landing_listings')),
    evidence=ref('instrument_assertions'),
    changes=ref('instrument_changes')
) }}
