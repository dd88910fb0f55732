{#
    The CTEs that every answer begins with: what was said, the periods of rules, what is asked of which.
#}
{% macro hearing(assertions, asked, rules) -%}
spoken as (

    {{ attest.spoken(assertions) | indent(4) }}

),

periods as (

    select *

    from {{ attest.once(attest.rulebook(rules)) | indent(4) }}

),

asked as (

    {{ asked | indent(4) }}

),

questions as (

    {{ attest.questions('asked', 'periods') | indent(4) }}

)
{%- endmacro %}
