{#
    Step 1 of a strategy: columns that the slice has, their values by other expressions.
#}
{% macro inject(rows, expressions) -%}

select
    * except (
        {%- for column in expressions %}
        {{ attest.named(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    {%- for column, expression in expressions.items() %}
    {{ expression }} as {{ attest.named(column) }}{{ ',' if not loop.last }}
    {%- endfor %}

from {{ rows }}

{%- endmacro %}
