{{ dimension(
    belief=with_news(ref('program_belief')),
    types=types_declared('program', {
        'program_name': 1,
        'admin_agency': 1,
        'eligibility_threshold': 6,
        'funding_cap_usd': 2,
        'program_status': 2,
    }),
    open_end=open_end()
) }}
