{#
    Give each assertion the whole state that it leaves: what it does not mention, it inherits.

    Law B2. `whole_state` is the package's; it takes each entity in one piece and in its
    order, as `ordered` leaves them, and stops the build where they are not.
#}
{% macro complete_states(ordered) -%}

select
    *,
    whole_state(bk, clock, position, source_system, ingest_ts, inheritance, mentions, unchanged) as state

from {{ ordered }}

{%- endmacro %}
