{{ rules_of(
    entity='instrument',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=unmarked(ref('instrument_assertions'), ref('marks')),
    basis=var('basis', none)
) }}
