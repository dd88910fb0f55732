{{ landed([
    ref('landing_worked'),
    ref('landing_worked_repaired'),
    ref('landing_registry'),
]) }}
