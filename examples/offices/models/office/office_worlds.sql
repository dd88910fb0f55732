{{ attest.lived(
    evidence=ref('office_assertions'),
    marks=ref('marks'),
    attributes=attest.attributes_of('office')
) }}
