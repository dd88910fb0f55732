{{ diff_snapshots(
    listed=ref('instrument_in_listings'),
    snapshots=landed_snapshots([ref('landing_listings')]),
    promises=ref('promises'),
    attributes=attributes_of('instrument')
) }}
