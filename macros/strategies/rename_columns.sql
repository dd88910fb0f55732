{#
    Steps 8 and 11 of a strategy: columns under the names that the table is to have.
#}
{% macro rename_columns(rows, names) -%}

select
    * except (
        {%- for column in names %}
        {{ attest.named(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    {%- for column, name in names.items() %}
    {{ attest.named(column) }} as {{ attest.named(name) }}{{ ',' if not loop.last }}
    {%- endfor %}

from {{ rows }}

{%- endmacro %}
