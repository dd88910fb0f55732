{#
    Step 5 of a strategy: the file that told each row; null where it comes from none.
#}
{% macro name_file(rows, file_name) -%}

select
    *,
    nullif({{ file_name }}, '') as source_file

from {{ rows }}

{%- endmacro %}
