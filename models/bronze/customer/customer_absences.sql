{{ absences(
    evidence=unmarked(ref('customer_assertions'), ref('marks')),
    snapshots=unmarked_snapshots(with_truncates(ref('customer_snapshots'), ref('customer_truncates')), ref('marks')),
    rulings=ref('snapshot_rulings'),
    attributes=attributes_of('customer')
) }}
