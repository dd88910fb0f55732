{{ rules_of(
    entity='account',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=unmarked(ref('account_assertions'), ref('marks')),
    basis=var('basis', none)
) }}
