{{ key_changes(
    evidence=ref('customer_assertions'),
    attributes=attributes_of('customer')
) }}
