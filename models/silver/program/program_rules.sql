{{ rules_of(
    entity='program',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=unmarked(ref('program_assertions'), ref('marks')),
    basis=var('basis', none)
) }}
