{{ belief(
    entity='program',
    assertions=with_news(ref('program_states')),
    rules=ref('program_rules'),
    attributes=attributes_of('program')
) }}
