{{ dimension(
    belief=with_news(ref('account_belief')),
    types=types_declared('account', {'opened_on': 0, 'product': 7, 'status': 2, 'credit_limit': 5}),
    open_end=open_end()
) }}
