{{ current(ref('instrument_audit')) }}
