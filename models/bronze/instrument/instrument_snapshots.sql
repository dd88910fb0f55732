{{ judge_snapshots(
    landings=[with_news(ref('landing_listings'))],
    evidence=ref('instrument_assertions'),
    decided=load_cached_relation(this),
    rulings=ref('snapshot_rulings'),
    promises=ref('promises'),
    attributes=dict(attributes_of('instrument'), **untracked_of('instrument'))
) }}
