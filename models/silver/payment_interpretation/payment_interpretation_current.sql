{{ current(ref('payment_interpretation_audit')) }}
