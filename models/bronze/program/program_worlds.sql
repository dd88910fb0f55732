{{ lived(
    evidence=ref('program_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('program')
) }}
