{{ audited(
    dimension=with_news(ref('dim_customer')),
    journal=told_by_now(),
    run=invocation_id
) }}
