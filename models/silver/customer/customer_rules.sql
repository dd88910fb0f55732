{{ rules_of(
    entity='customer',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=unmarked(ref('customer_assertions'), ref('marks')),
    basis=var('basis', none)
) }}
