{{ transactions(
    entity='payment',
    assertions=with_news(ref('payment_assertions')),
    attributes=attributes_of('payment'),
    corrects='corrects'
) }}
