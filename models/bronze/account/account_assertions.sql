{{ evidence(
    feeds=[
        with_news(ref('account_from_accounts')),
    ],
    attributes=attributes_of('account')
) }}
