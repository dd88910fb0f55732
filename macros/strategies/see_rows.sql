{#
    Step 10 of a strategy: when the source last told the row.
#}
{% macro see_rows(rows) -%}

select
    *,
    :processing_time as last_seen_ts

from {{ rows }}

{%- endmacro %}
