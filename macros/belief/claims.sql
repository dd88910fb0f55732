{#
    What is said on lines of time whose rules weigh claims side by side, one row a claim.

    A claim is one attribute of an assertion, with the rule that lists its source, in its
    lane: of one lane only the latest claim counts. A source is a lane; under escalate_only
    each severity that it speaks of is one. `coupled_to` brings the claims on the leading
    attribute along, in the role `lead`. `everyone` hears unlisted sources too, and every
    attribute: what there is to say about why.
#}
{% macro claims(heard, everyone=false) -%}

select
    {{ attest.line() }},
    asks_from,
    asked,
    period_until,
    attribute,
    lane,
    at,
    position,
    struct(
        role,
        source_system,
        at,
        position,
        value,
        assertion_id,
        clock,
        coalesce(expires_at, {{ attest.forever() }}) as expires_at,
        coalesce(timestamp_micros(unix_micros(at) + rule.fresh_micros), {{ attest.forever() }}) as fresh_until,
        max(if(not value <=> value_before or place = 1, at, null)) over so_far as since,
        cast(severity as bigint) as severity,
        coupling,
        rule.rule_id,
        rule.rule,
        rule.rank,
        rule.quorum,
        rule.may_clear
    ) as claim

from (
    select
        *,
        lag(value) over in_lane as value_before,
        row_number() over in_lane as place

    from (
        select
            *,
            concat(role, ' ', source_system, if(rule.rule = 'escalate_only', concat(' ', cast(coalesce(severity, 0) as string)), '')) as lane

        from (
            select
                *,
                part.*,
                if(rules[said_of].clock = clock, rules[said_of], null) as rule,
                nullif(array_position(rules[said_of].severity_order, {{ attest.plain('value') }}), 0) as severity

            from {{ heard }}
            lateral view explode(map_concat(mentions, map('is_deleted', is_deleted))) as said_of, value
            lateral view explode(array_append(
                transform(
                    filter(couplings, one -> one.lead_attribute = said_of),
                    one -> struct(one.attribute as attribute, 'lead' as role, one as coupling)
                ),
                struct(
                    said_of as attribute,
                    'own' as role,
                    get(filter(couplings, one -> one.attribute = said_of), 0) as coupling
                )
            )) as part
        )
        {%- if not everyone %}
        where (contested is null or array_contains(contested, attribute))
            and (rule is not null or (role = 'own' and coupling is not null))
        {%- endif %}
    )
    window in_lane as (partition by {{ attest.line() }}, attribute, lane order by position)
)
window so_far as (
    partition by {{ attest.line() }}, attribute, lane order by position
    rows between unbounded preceding and current row
)

{%- endmacro %}


{# A canonical value as people write it. #}
{% macro plain(value) -%}
if(startswith({{ value }}, '"'), substring({{ value }}, 2, length({{ value }}) - 2), {{ value }})
{%- endmacro %}
