{#
    Decide where claims must be weighed side by side, at every moment at which that can change.

    Gives the outcome of an attribute from each moment on, in the shape that line_of_time
    holds, above every claim: it stands until the next one. Where nobody is eligible the
    outcome is nobody.
#}
{% macro contest(heard, everyone=false) -%}

with claims as (

    {{ attest.claims(heard, everyone) | indent(4) }}

),

gathered as (

    {{ attest.side_by_side('claims') | indent(4) }}

),

weighed as (

    {{ attest.weigh('gathered') | indent(4) }}

)

{{ attest.choose('weighed') }}

{%- endmacro %}
