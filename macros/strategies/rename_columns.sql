{#
    Steps 8 and 11 of a strategy: columns under the names that the table is to have.
#}
{% macro rename_columns(rows, names) -%}

select
    * except (
        {%- for column in names %}
        {{ named(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    {%- for column, name in names.items() %}
    {{ named(column) }} as {{ named(name) }}{{ ',' if not loop.last }}
    {%- endfor %}

from {{ rows }}

{%- endmacro %}
