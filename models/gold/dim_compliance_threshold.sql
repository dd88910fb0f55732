{{ dimension(
    belief=with_news(ref('program_belief')),
    types=types_declared('program', {'program_name': 1, 'admin_agency': 1, 'eligibility_threshold': 2}),
    open_end=open_end()
) }}
