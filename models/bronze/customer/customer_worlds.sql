{{ lived(
    evidence=ref('customer_assertions'),
    marks=ref('marks'),
    attributes=attributes_of('customer'),
    snapshots=with_truncates(ref('customer_snapshots'), ref('customer_truncates')),
    rulings=ref('snapshot_rulings'),
    carries_keys=true
) }}
