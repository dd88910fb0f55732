{{ attest.rules_of(
    entity='office',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=attest.unmarked(ref('office_assertions'), ref('marks')),
    basis=var('basis', none)
) }}
