{#
    What Silver hears: each assertion at the time it counts from, in one order.

    Law B6: what only has its arrival counts from there, after what has a time of its own
    at that instant; a rule must ask for it. Every assertion speaks of is_deleted (law E3).
#}
{% macro spoken(assertions) -%}

select
    bk,
    source_system,
    clock,
    assertion_id,
    effective_ts as at,
    if(clock = 'source', position, position + 1000000000000) as position,
    known_from,
    known_until,
    expires_at,
    mentions,
    cast(is_deleted as string) as is_deleted

from {{ assertions }}

{%- endmacro %}
