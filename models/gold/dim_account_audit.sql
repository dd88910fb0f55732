{{ audited(
    dimension=with_news(ref('dim_account')),
    journal=told_by_now(),
    run=invocation_id
) }}
