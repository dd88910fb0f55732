{#
    What is asked, each question with the period of rules that judges it.

    `asked` is a relation of bk, as_at and known_at (null: as best known, by the rules of the
    build's basis).
#}
{% macro questions(asked, periods, without="''") -%}

select distinct
    asked.bk,
    asked.as_at,
    coalesce(asked.known_at, {{ attest.forever() }}) as known_by,
    {{ without }} as without,
    period.period

from {{ asked }} as asked
inner join {{ periods }} as period
    on asked.as_at >= period.effective_from
    and asked.as_at < period.effective_until
    and if(
        asked.known_at is null,
        period.is_basis,
        not period.is_basis and asked.known_at >= period.known_from and asked.known_at < period.known_until
    )

{%- endmacro %}


{# The lines of time that questions are asked on, with the instants that they ask about. #}
{% macro lines(questions) -%}
(
    select
        {{ attest.line() }},
        collect_set(as_at) as asked

    from {{ questions }}
    group by {{ attest.line() }}
)
{%- endmacro %}
