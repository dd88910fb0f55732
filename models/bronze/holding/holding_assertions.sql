{{ evidence(
    feeds=[
        with_news(ref('holding_from_holdings')),
    ],
    attributes=attributes_of('holding')
) }}
