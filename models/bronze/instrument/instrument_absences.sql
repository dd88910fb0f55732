{{ absences(
    evidence=ref('instrument_assertions'),
    snapshots=ref('instrument_snapshots'),
    rulings=ref('snapshot_rulings'),
    attributes=dict(attributes_of('instrument'), **untracked_of('instrument'))
) }}
