{{ judge_snapshots(
    landings=[with_news(ref('landing_registry'))],
    evidence=ref('customer_assertions'),
    decided=load_cached_relation(this),
    rulings=ref('snapshot_rulings'),
    promises=ref('promises'),
    attributes=attributes_of('customer')
) }}
