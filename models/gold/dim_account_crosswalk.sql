{{ crosswalk(
    journal=ref('dim_account_audit'),
    dimension=ref('dim_account')
) }}
