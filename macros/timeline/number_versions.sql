{#
    Give every assertion the number of the version that it is part of.
#}
{% macro number_versions(marked) -%}

select
    *,
    sum(cast(starts_version as int)) over (
        partition by bk, clock order by position
        rows between unbounded preceding and current row
    ) as version

from {{ marked }}

{%- endmacro %}
