{#
    The outcome of each contest: who is picked, and what holds where nobody can be.

    Under a quorum what was settled last stays, unsettled. What is coupled takes the word of
    the source that was picked for the leading attribute, and null where that never spoke.
#}
{% macro choose(weighed) -%}

select
    *,
    {{ attest.held(
        tier=1,
        standing=('unix_micros(at)', 'cast(0 as bigint)', 'cast(0 as bigint)'),
        value='if(coupling is null, picked.claim.value, follower.value)',
        source='picked.claim.source_system',
        assertion='if(coupling is null, picked.claim.assertion_id, follower.assertion_id)',
        rule='if(picked is null, null, coalesce(coupling.rule_id, picked.claim.rule_id))',
        caveat=attest.caveat()
    ) | indent(4) }} as outcome

from (
    select
        *,
        get(
            filter(
                candidates,
                one -> one.claim.role = 'own'
                    and one.claim.source_system = picked.claim.source_system
                    and at < one.claim.expires_at
            ),
            0
        ).claim as follower

    from (
        select
            * except (best),
            is_by_quorum and not {{ attest.is_settled('best') }} as is_unsettled,
            if(
                is_by_quorum,
                last_value(if({{ attest.is_settled('best') }}, best, null), true) over so_far,
                best
            ) as picked

        from (
            select
                *,
                array_max(filter(candidates, one -> one.standing.is_eligible)) as best

            from {{ weighed }}
        )
        window so_far as (
            partition by {{ attest.line() }}, attribute order by at
            rows between unbounded preceding and current row
        )
    )
)

{%- endmacro %}


{# Under a quorum the best is believed only if enough say so. #}
{% macro is_settled(best) -%}
(coalesce({{ best }}.standing.size, 0) >= {{ best }}.claim.quorum)
{%- endmacro %}


{# What whoever reads the belief should know of it. #}
{% macro caveat() -%}
case
    when picked is null then null
    when is_unsettled then 'unsettled'
    when not picked.standing.is_fresh then 'stale'
    when picked.claim.clock = 'arrival' then 'by arrival'
end
{%- endmacro %}
