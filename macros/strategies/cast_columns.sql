{#
    Step 7 of a strategy: columns in the types that the table is to have.
#}
{% macro cast_columns(rows, types) -%}

select
    * except (
        {%- for column in types %}
        {{ attest.named(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    {%- for column, type in types.items() %}
    cast({{ attest.named(column) }} as {{ type }}) as {{ attest.named(column) }}{{ ',' if not loop.last }}
    {%- endfor %}

from {{ rows }}

{%- endmacro %}
