{# What a replayed snapshot has new, modified and unchanged is what the evidence has of it. #}
{% test captures_add_up(model) %}

select
    landing_id,
    new,
    modified,
    unchanged,
    assertions,
    'The diff and the evidence of this capture differ. Look for a filter in its mapping, then drop the evidence and build.' as problem

from {{ model }}
where capture_mode = 'full_snapshot'
    and new + modified + unchanged <> assertions

{% endtest %}
