{#
    What is held of each attribute, all along every entity's line of time, as known at an instant.

    One row a moment at which anything was said, expires or comes under another rule. Without
    `known_at`, an SQL expression, it is as best known, by the rules of the build's basis.
#}
{% macro history(assertions, rules, attributes, known_at=none) -%}

with spoken as (

    {{ attest.spoken(assertions) | indent(4) }}
    {%- if known_at is not none %}
    where {{ attest.is_within(known_at, 'known_from', 'known_until') }}
    {%- endif %}

),

periods as (

    select *

    from {{ attest.once(attest.rulebook(rules)) | indent(4) }}
    where {{ 'is_basis' if known_at is none else
        'not is_basis and ' ~ known_at ~ ' >= known_from and ' ~ known_at ~ ' < known_until' }}

),

heard as (

    {{ attest.hear('spoken', 'periods') | indent(4) }}

),

contests as (

    {{ attest.contest(attest.contested('spoken', 'periods')) | indent(4) }}

),

turns as (

    {{ attest.turns_of_rules('spoken', 'periods') | indent(4) }}

)

{{ attest.line_of_time('heard', 'contests', 'turns', attributes) }}

{%- endmacro %}


{# Where other rules come into force after an entity was first heard of: all that is asked of a whole history. #}
{% macro turns_of_rules(spoken, periods) -%}
select distinct
    said.bk,
    {{ attest.forever() }} as known_by,
    '' as without,
    period.period,
    period.effective_from as as_at

from {{ spoken }} as said
inner join {{ periods }} as period
    on said.at < period.effective_from
{%- endmacro %}
