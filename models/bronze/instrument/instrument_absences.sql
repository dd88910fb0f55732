{{ absences(
    evidence=unmarked(ref('instrument_assertions'), ref('marks')),
    snapshots=unmarked_snapshots(ref('instrument_snapshots'), ref('marks')),
    rulings=ref('snapshot_rulings'),
    attributes=dict(attributes_of('instrument'), **untracked_of('instrument'))
) }}
