{{ landed([
    ref('landing_worked'),
    ref('landing_worked_repaired'),
    ref('landing_registry'),
    ref('landing_core_customers'),
    ref('landing_accounts'),
    ref('landing_holdings'),
    ref('landing_payments'),
    ref('landing_programs'),
    ref('landing_payment_review'),
    ref('landing_listings'),
    ref('landing_terms'),
    ref('landing_issuers'),
]) }}
