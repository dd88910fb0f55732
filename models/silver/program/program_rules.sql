{{ rules_of(
    entity='program',
    precedence=ref('precedence'),
    attribute_groups=ref('attribute_groups'),
    assertions=ref('program_assertions'),
    basis=var('basis', none)
) }}
