{{ evidence(
    entity='customer',
    feeds=[
        with_news(ref('customer_from_worked')),
        with_news(ref('customer_from_worked_repaired')),
    ]
) }}
