{#
    Step 6 of a strategy: one key from the columns of the business key; null if one of them is.
#}
{% macro key_rows(rows, business_key, columns) -%}

select
    *,
    sha2(concat(
        {%- for column in business_key %}
        {{ attest.length_first(attest.text_of(attest.named(column), columns[column])) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ), 256) as primary_key

from {{ rows }}

{%- endmacro %}
