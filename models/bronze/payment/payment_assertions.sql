{{ evidence(
    feeds=[
        with_news(ref('payment_from_payments')),
    ],
    attributes=attributes_of('payment')
) }}
