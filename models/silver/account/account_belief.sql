{{ belief(
    entity='account',
    assertions=with_news(ref('account_states')),
    rules=ref('account_rules'),
    attributes=attributes_of('account')
) }}
