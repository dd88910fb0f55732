{{ lived(
    evidence=ref('account_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('account')
) }}
