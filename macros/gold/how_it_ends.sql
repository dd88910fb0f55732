{#
    The intervals of a belief with how each ends: when, and whether by a delete, on whose word.
#}
{% macro how_it_ends(belief) -%}

select
    *,
    struct(
        effective_to as at,
        coalesce(lead(is_deleted) over in_time, false) as is_deleted,
        lead(struct(is_deleted_source as source_system, is_deleted_assertion as assertion_id)) over in_time as told_by
    ) as ending

from {{ belief }}
window in_time as (partition by bk order by effective_from)

{%- endmacro %}
