{{ timeline(
    entity='account',
    states=with_news(ref('account_states')),
    attributes=attributes_of('account')
) }}
