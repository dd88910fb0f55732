{#
    Every row of a timeline goes by the clock that it was declared to go by.

    Law B6: source time and arrival never stand in one timeline.
#}
{% test has_one_clock(model, clock='source') %}

select
    bk,
    version,
    clock,
    'Goes by another clock than its timeline. Give timeline(…) its clock, and rebuild this table with --full-refresh.' as problem

from {{ model }}
where not clock <=> '{{ clock }}'

{% endtest %}
