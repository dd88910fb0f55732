{{ dimension(
    belief=with_news(ref('customer_belief')),
    types=types_declared('customer', {'name': [1, 0], 'address': 3, 'status': 2}),
    open_end=open_end()
) }}
