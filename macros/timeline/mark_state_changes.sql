{#
    Flag each assertion that starts a version: its source or its state differs from the one before.

    Law B4: neighbours collapse only when both are equal. <=> treats null as a value, and
    the first assertion of an entity, with none before it, always starts a version.
#}
{% macro mark_state_changes(hashed) -%}

select
    *,
    not source_system <=> lag(source_system) over in_order
    or not attr_hash <=> lag(attr_hash) over in_order as starts_version

from {{ hashed }}
window in_order as (partition by bk, clock order by position)

{%- endmacro %}
