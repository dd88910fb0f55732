{{ evidence(
    feeds=[
        with_news(ref('customer_from_worked')),
        with_news(ref('customer_from_worked_repaired')),
    ],
    attributes=attributes_of('customer')
) }}
