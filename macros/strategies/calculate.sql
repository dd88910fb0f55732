{#
    Step 2 of a strategy: columns that the slice lacks, from those it has.
#}
{% macro calculate(rows, expressions) -%}

select
    *,
    {%- for column, expression in expressions.items() %}
    {{ expression }} as {{ attest.named(column) }}{{ ',' if not loop.last }}
    {%- endfor %}

from {{ rows }}

{%- endmacro %}
