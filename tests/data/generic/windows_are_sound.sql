{#
    Every row has a window: a start, an end after it, and, where open windows end at an instant, no null.

    `open_end` is that instant; none, and null means open.
#}
{% test windows_are_sound(model, key='bk', starts='effective_from', ends='effective_to', open_end=none) %}

select *

from (
    select
        {{ key }},
        {{ starts }},
        {{ ends }},
        case
            when {{ key }} is null
                then 'Has no key, so it is nobody''s. Mend the model or its input.'
            when {{ starts }} is null
                then 'Has no start. Mend the model or its input.'
            {%- if open_end is not none %}
            when {{ ends }} is null
                then 'Has no end, and an open window ends at {{ open_end }} here. Build this table again with --full-refresh.'
            {%- endif %}
            when {{ ends }} < {{ starts }}
                then 'Ends before it begins. Mend the model or its input.'
            when {{ ends }} = {{ starts }}
                then 'Is empty, so it is never in force. Mend the model or its input.'
        end as problem

    from {{ model }}
)
where problem is not null

{% endtest %}
