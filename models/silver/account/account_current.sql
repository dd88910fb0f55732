{{ current(ref('account_audit')) }}
