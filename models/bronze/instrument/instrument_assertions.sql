{{ evidence(
    feeds=[
        with_news(ref('instrument_from_listings')),
        with_news(ref('instrument_from_terms')),
        with_news(ref('instrument_from_issuers')),
    ],
    attributes=dict(attributes_of('instrument'), **untracked_of('instrument'))
) }}
