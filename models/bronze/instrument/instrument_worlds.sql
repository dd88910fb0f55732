{{ lived(
    evidence=ref('instrument_assertions'),
    marks=ref('marks'),
    attributes=dict(attributes_of('instrument'), **untracked_of('instrument')),
    snapshots=ref('instrument_snapshots'),
    rulings=ref('snapshot_rulings')
) }}
