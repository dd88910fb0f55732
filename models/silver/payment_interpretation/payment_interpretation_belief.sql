{{ belief(
    entity='payment_interpretation',
    assertions=with_news(ref('payment_interpretation_states')),
    rules=ref('payment_interpretation_rules'),
    attributes=attributes_of('payment_interpretation')
) }}
