{#
    Give each candidate its standing, under its own source's rule; the greatest is picked.

    Law S2, kind by kind, in `standing`. A candidate past its rule's freshness loses to any that is
    not; where all are, the least stale is picked. escalate_only starts anew with the latest
    word of a source that may clear. A quorum counts who says the same now.
#}
{% macro weigh(gathered) -%}

select
    * except (candidates),
    transform(candidates, one -> struct({{ attest.standing('one.claim') | indent(4) }} as standing, one.claim, one.before)) as candidates

from (
    select
        *,
        get(candidates, 0).claim.coupling as coupling,
        exists(candidates, one -> one.claim.rule = 'quorum') as is_by_quorum,
        if(get(candidates, 0).claim.coupling is null, 'own', 'lead') as contenders,
        array_max(transform(
            filter(candidates, one -> one.claim.rule = 'escalate_only' and one.claim.may_clear),
            one -> if(one.claim.severity is null, null, one.claim.position)
        )) as cleared_from

    from {{ gathered }}
)

{%- endmacro %}


{# What a claim's rule makes of it among `candidates` at `at`; compares field by field. #}
{% macro standing(claim) -%}
struct(
    {{ claim }}.rule_id is not null
        and {{ claim }}.role = contenders
        and at < {{ claim }}.expires_at
        and ({{ claim }}.rule <> 'escalate_only'
            or ({{ claim }}.severity is not null and {{ claim }}.position >= coalesce(cleared_from, 0))) as is_eligible,
    at < {{ claim }}.fresh_until as is_fresh,
    if(at < {{ claim }}.fresh_until, 0, unix_micros({{ claim }}.fresh_until)) as freshness,
    case {{ claim }}.rule
        when 'longest' then cast(length({{ attest.plain(claim ~ '.value') }}) as decimal(38, 10))
        when 'largest' then try_cast({{ attest.plain(claim ~ '.value') }} as decimal(38, 10))
        when 'escalate_only' then cast({{ claim }}.severity as decimal(38, 10))
        when 'quorum' then cast({{ attest.votes(claim) }} as decimal(38, 10))
    end as size,
    case {{ claim }}.rule
        when 'highest_rank' then {{ claim }}.rank
        when 'most_recent_change' then unix_micros({{ claim }}.since)
        else unix_micros({{ claim }}.at)
    end as first,
    if({{ claim }}.rule = 'highest_rank', unix_micros({{ claim }}.at), {{ claim }}.rank) as second,
    {{ claim }}.position as third
)
{%- endmacro %}


{# How many listed sources' latest words agree with a claim, those that are past their freshness left out. #}
{% macro votes(claim) -%}
size(filter(
    candidates,
    other -> other.claim.rule = 'quorum'
        and other.claim.role = {{ claim }}.role
        and other.claim.value <=> {{ claim }}.value
        and at < other.claim.fresh_until
        and at < other.claim.expires_at
))
{%- endmacro %}
