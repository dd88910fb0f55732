{{ rules_of(
    entity='instrument',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=ref('instrument_assertions'),
    basis=var('basis', none)
) }}
