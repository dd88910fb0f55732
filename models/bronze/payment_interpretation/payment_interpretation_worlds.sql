{{ lived(
    evidence=ref('payment_interpretation_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('payment_interpretation')
) }}
