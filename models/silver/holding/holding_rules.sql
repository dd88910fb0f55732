{{ rules_of(
    entity='holding',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=unmarked(ref('holding_assertions'), ref('marks')),
    basis=var('basis', none)
) }}
