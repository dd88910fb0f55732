{{ rules_of(
    entity='holding',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=ref('holding_assertions'),
    basis=var('basis', none)
) }}
