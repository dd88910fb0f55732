{{ evidence(
    feeds=[
        with_news(ref('program_from_programs')),
    ],
    attributes=attributes_of('program')
) }}
