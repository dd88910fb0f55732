{#
    Give every assertion the number of the version that it belongs to.
#}
{% macro number_versions(marked) -%}

select
    *,
    sum(cast(starts_version as int)) over in_order as version

from {{ marked }}
window in_order as (
    partition by bk order by position
    rows between unbounded preceding and current row
)

{%- endmacro %}
