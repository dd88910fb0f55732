{{ evidence(
    feeds=[
        with_news(ref('payment_interpretation_from_payment_review')),
    ],
    attributes=attributes_of('payment_interpretation')
) }}
