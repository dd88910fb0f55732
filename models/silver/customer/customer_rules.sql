{{ rules_of(
    entity='customer',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=ref('customer_assertions'),
    basis=var('basis', none)
) }}
