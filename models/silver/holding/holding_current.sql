{{ current(ref('holding_audit')) }}
