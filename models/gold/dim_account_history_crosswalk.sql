{{ crosswalk(
    journal=ref('dim_account_history_audit'),
    dimension=ref('dim_account_history')
) }}
