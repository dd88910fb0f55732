{{ ingest_ledger(
    landings=ref('landings'),
    replays=[ref('instrument_replays')]
) }}
