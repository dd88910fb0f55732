{{ rules_of(
    entity='account',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=ref('account_assertions'),
    basis=var('basis', none)
) }}
