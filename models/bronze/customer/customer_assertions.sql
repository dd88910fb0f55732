{{ evidence(
    feeds=[
        with_news(ref('customer_from_worked')),
        with_news(ref('customer_from_worked_repaired')),
        with_news(ref('customer_from_registry')),
    ],
    attributes=attributes_of('customer')
) }}
