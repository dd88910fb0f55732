{{ absences(
    evidence=ref('customer_assertions'),
    snapshots=with_truncates(ref('customer_snapshots'), ref('customer_truncates')),
    rulings=ref('snapshot_rulings'),
    attributes=attributes_of('customer')
) }}
