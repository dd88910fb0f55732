{#
    Everyone's latest claim on every attribute, side by side, at each instant that is asked about.

    Listed or not, and with the standing that its rule gives it: who is picked, and the
    outcome that is believed. What there is to say about why is read off these rows.
#}
{% macro candidates(assertions, asked, rules) -%}

with {{ attest.hearing(assertions, asked, rules) }}

{{ attest.asked_of_everyone('questions') }}

{%- endmacro %}


{# The outcomes of these questions, everyone heard. #}
{% macro asked_of_everyone(questions) -%}
select *

from (
    {{ attest.contest('(' ~ attest.hear('spoken', 'periods', attest.lines(questions)) ~ ')', everyone=true) | indent(4) }}
)
where is_asked
{%- endmacro %}


{# When each belief began, as questions. #}
{% macro beginnings_of(belief, rules) -%}
select
    bk,
    effective_from as as_at,
    (select max(basis_set) from {{ rules }}) as known_at

from {{ belief }}
{%- endmacro %}
