{{ audited(
    dimension=with_news(ref('dim_program')),
    journal=told_by_now(),
    run=invocation_id
) }}
