{#
    Lay what was said on lines of time, one an entity, state of knowledge and period of rules.

    Only what was known counts, and what a question leaves out does not; what was said after
    the period is not heard in it, what was said before it is. `lines` have bk, known_by,
    without, period. Without them it is the whole history: one state of knowledge, and
    every moment of a period asks what is believed from then on.
#}
{% macro hear(spoken, periods, lines=none) -%}

select
    said.bk,
    {{ 'line.known_by' if lines else attest.forever() ~ ' as known_by' }},
    {{ 'line.without' if lines else "'' as without" }},
    period.period,
    period.effective_until as period_until,
    {{ attest.forever() if lines else 'period.effective_from' }} as asks_from,
    {{ 'line.asked' if lines else 'cast(array() as array<timestamp>) as asked' }},
    said.at,
    said.position,
    said.source_system,
    said.clock,
    said.assertion_id,
    said.expires_at,
    said.mentions,
    said.is_deleted,
    period.by_source[said.source_system] as rules,
    period.couplings,
    period.contested

from {{ spoken }} as said
{%- if lines %}
inner join {{ lines }} as line
    on said.bk = line.bk
    and said.known_from <= line.known_by
    and coalesce(said.known_until > line.known_by, true)
    and said.assertion_id <> line.without
inner join {{ periods }} as period
    on line.period = period.period
{%- else %}
inner join {{ periods }} as period
    on said.at < period.effective_until
{%- endif %}
where said.at < period.effective_until
    and (said.clock = 'source' or array_contains(period.by_arrival, said.source_system))

{%- endmacro %}
