{{ lived(
    evidence=ref('holding_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('holding')
) }}
