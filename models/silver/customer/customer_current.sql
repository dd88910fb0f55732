{{ current(ref('customer_audit')) }}
