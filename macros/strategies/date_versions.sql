{#
    Step 4 of a strategy, `historic` alone: each row as the version that begins now.
#}
{% macro date_versions(rows) -%}

select
    *,
    :processing_time as effective_from,
    cast(null as timestamp) as effective_to,
    true as is_current

from {{ rows }}

{%- endmacro %}
