{{ rules_of(
    entity='payment_interpretation',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=unmarked(ref('payment_interpretation_assertions'), ref('marks')),
    basis=var('basis', none)
) }}
