{{ transactions(
    entity='payment',
    assertions=unmarked(with_news(ref('payment_assertions')), ref('marks')),
    attributes=attributes_of('payment'),
    corrects='corrects'
) }}
