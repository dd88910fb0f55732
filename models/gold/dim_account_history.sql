{{ dimension(
    belief=with_news(ref('account_belief')),
    types=types_declared('account', {'credit_limit': 2}),
    open_end=open_end()
) }}
