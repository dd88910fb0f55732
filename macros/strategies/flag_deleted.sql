{#
    Step 9 of a strategy: whether the source says that the row is gone. Unknown is no.
#}
{% macro flag_deleted(rows, deleted_when) -%}

select
    *,
    coalesce({{ deleted_when }}, false) as is_deleted

from {{ rows }}

{%- endmacro %}
