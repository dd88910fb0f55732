{{ audited(
    dimension=with_news(ref('dim_compliance_threshold')),
    journal=told_by_now(),
    run=invocation_id
) }}
