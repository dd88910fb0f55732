{{ squeezed(as_known(
    states=ref('holding_states'),
    evidence=ref('holding_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('holding')
)) }}
