{#
    The truncates that landed, each as a snapshot of nobody that is held until a person rules on it.

    Law B8 does the rest: once released, whoever the feed last asserted as live before that time
    gets an inferred delete, also those of whom it is only learnt later.
#}
{% macro truncates(landings) -%}
{%- for landing in landings %}
{%- if not loop.first %}

union all

{% endif -%}
select
    landing_id,
    feed,
    ingest_run_id,
    ingest_ts as arrival,
    source_event_ts as as_of,
    recorded_at,
    array_except(array(''), array('')) as scopes,
    'held' as decision

from {{ landing }}
where status = 'held'
    and quarantine_reason = 'truncate'
{%- endfor %}

{%- endmacro %}


{# An entity's snapshots, those that truncates are among them. #}
{% macro with_truncates(snapshots, truncates) -%}
(
    {%- for relation in (snapshots, truncates) %}

    select
        landing_id,
        feed,
        ingest_run_id,
        arrival,
        as_of,
        recorded_at,
        scopes,
        decision

    from {{ relation }}
    {%- if not loop.last %}

    union all
    {%- endif %}
    {%- endfor %}
)
{%- endmacro %}
