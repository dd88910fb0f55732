{{ crosswalk(
    journal=ref('dim_program_audit'),
    dimension=ref('dim_program')
) }}
