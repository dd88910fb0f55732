{{ repaired(journal=ref('fct_payment_audit')) }}
