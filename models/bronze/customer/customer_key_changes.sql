{{ key_changes(
    evidence=unmarked(ref('customer_assertions'), ref('marks')),
    attributes=attributes_of('customer')
) }}
