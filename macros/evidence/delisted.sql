{#
    Who is delisted by which snapshot: the first that could list the entity again, and does not.
#}
{% macro delisted(settled, placed) -%}

select
    listed.* except (landing_id, source_event_ts, prior_landing_id),
    lacking.landing_id,
    lacking.as_of as source_event_ts,
    listed.landing_id as prior_landing_id,
    'delisted' as change

from {{ settled }} as listed
inner join {{ placed }} as lacking
    on listed.feed = lacking.feed
    and listed.covered <=> lacking.covered
    and lacking.proves
    and listed.proven + 1 = lacking.proven
    and (listed.next_place is null or listed.next_place > lacking.place)

{%- endmacro %}
