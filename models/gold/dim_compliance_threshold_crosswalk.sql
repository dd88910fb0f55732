{{ crosswalk(
    journal=ref('dim_compliance_threshold_audit'),
    dimension=ref('dim_compliance_threshold')
) }}
