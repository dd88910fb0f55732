{{ absences(
    evidence=ref('customer_assertions'),
    snapshots=ref('customer_snapshots'),
    rulings=ref('snapshot_rulings'),
    attributes=attributes_of('customer')
) }}
