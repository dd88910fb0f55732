{{ crosswalk(
    journal=ref('dim_customer_audit'),
    dimension=ref('dim_customer')
) }}
