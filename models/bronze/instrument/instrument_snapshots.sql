{{ judge_snapshots(
    landings=[unmarked(with_news(ref('landing_listings')), ref('marks'))],
    evidence=unmarked(ref('instrument_assertions'), ref('marks')),
    decided=unmarked_snapshots(load_cached_relation(this), ref('marks')) if load_cached_relation(this) else none,
    rulings=ref('snapshot_rulings'),
    promises=ref('promises'),
    attributes=dict(attributes_of('instrument'), **untracked_of('instrument'))
) }}
