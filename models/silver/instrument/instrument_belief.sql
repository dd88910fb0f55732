{{ belief(
    entity='instrument',
    assertions=with_news(ref('instrument_states')),
    rules=ref('instrument_rules'),
    attributes=attributes_of('instrument')
) }}
