{{ states(
    arrivals=with_news(ref('account_assertions')),
    attributes=attributes_of('account')
) }}
