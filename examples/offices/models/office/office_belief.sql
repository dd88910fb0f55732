{{ attest.belief(
    entity='office',
    assertions=attest.with_news(ref('office_states')),
    rules=ref('office_rules'),
    attributes=attest.attributes_of('office')
) }}
