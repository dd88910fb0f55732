{{ rules_of(
    entity='payment_interpretation',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=ref('payment_interpretation_assertions'),
    basis=var('basis', none)
) }}
