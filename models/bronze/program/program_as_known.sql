{{ squeezed(as_known(
    states=ref('program_states'),
    evidence=ref('program_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('program')
)) }}
