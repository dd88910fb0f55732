{{ ordered(
    arrivals=ref('account_assertions'),
    attributes=attributes_of('account')
) }}
