{{ keys_given(
    facts=version_keys(with_news(ref('fct_payment')), ['customer', 'account', 'threshold']),
    journal=told_by_now(),
    run=invocation_id
) }}
