{#
    A column's name in the one form that this project has: lower case, words joined by an underscore.

    CustomerNo, customer-no and "Customer No." are all customer_no.
#}
{% macro normal_name(column) -%}
{%- set spelled = namespace(out='', last='') -%}
{%- for letter in column -%}
    {%- set follows = column[loop.index] if not loop.last else '' -%}
    {%- if letter.isupper() and (spelled.last.islower() or spelled.last.isdigit() or (spelled.last.isupper() and follows.islower())) -%}
        {%- set spelled.out = spelled.out ~ '_' -%}
    {%- endif -%}
    {%- set spelled.out = spelled.out ~ (letter.lower() if letter.isalnum() else '_') -%}
    {%- set spelled.last = letter -%}
{%- endfor -%}
{{ spelled.out.split('_') | select | join('_') }}
{%- endmacro %}
