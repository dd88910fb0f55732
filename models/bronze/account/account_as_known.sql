{{ squeezed(as_known(
    states=ref('account_states'),
    evidence=ref('account_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('account')
)) }}
