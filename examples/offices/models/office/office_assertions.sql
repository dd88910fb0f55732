{{ attest.evidence(
    feeds=[
        attest.with_news(ref('office_from_offices')),
    ],
    attributes=attest.attributes_of('office')
) }}
