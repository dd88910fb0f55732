{{ evidence(
    feeds=[
        with_news(ref('customer_from_worked')),
        with_news(ref('customer_from_worked_repaired')),
        with_news(ref('customer_from_registry')),
        with_news(ref('customer_from_core_customers')),
    ],
    attributes=attributes_of('customer')
) }}
