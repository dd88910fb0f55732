{#
    In English, why one candidate lost to the one that was picked.
#}
{% macro why_it_lost(loser, picked) -%}
{%- set source = picked ~ '.claim.source_system' -%}
case
    when decided.coupling is not null
        then concat('goes with ', decided.coupling.lead_attribute, ', where ', coalesce({{ source }}, 'nobody'), ' is believed')
    when {{ loser }}.claim.rule_id is null
        then concat({{ loser }}.claim.source_system, ' is not listed for this attribute, so it is never believed for it')
    when at >= {{ loser }}.claim.expires_at
        then concat('expired at ', {{ attest.instant(loser ~ '.claim.expires_at') }})
    when {{ loser }}.claim.rule = 'escalate_only' and {{ loser }}.claim.severity is null
        then 'its value has no severity in the rule, so it neither raises nor clears'
    when {{ loser }}.claim.rule = 'escalate_only' and not {{ loser }}.standing.is_eligible
        then concat('said at ', {{ attest.instant(loser ~ '.claim.at') }}, ', and cleared since')
    when {{ picked }} is null
        then 'no value has had enough sources behind it yet'
    when {{ picked }}.standing.is_fresh and not {{ loser }}.standing.is_fresh
        then concat('stale from ', {{ attest.instant(loser ~ '.claim.fresh_until') }}, ' on')
    when not {{ loser }}.standing.is_fresh
        then concat('stale from ', {{ attest.instant(loser ~ '.claim.fresh_until') }}, ' on, longer than ', {{ source }})
    when {{ loser }}.claim.rule = 'escalate_only' and {{ loser }}.standing.size < {{ picked }}.standing.size
        then if(
            {{ loser }}.claim.position > {{ picked }}.claim.position,
            concat(
                'less severe than what ', {{ source }}, ' said at ', {{ attest.instant(picked ~ '.claim.at') }}, ', and ',
                {{ loser }}.claim.source_system, ' has no authority to clear'
            ),
            concat('less severe than what ', {{ source }}, ' said at ', {{ attest.instant(picked ~ '.claim.at') }})
        )
    when {{ loser }}.claim.rule = 'quorum' and {{ loser }}.claim.value <=> {{ picked }}.claim.value
        then concat('says the same, in favour of ', {{ source }}, '''s word')
    when {{ loser }}.claim.rule = 'quorum'
        then concat(
            'has ', cast(cast({{ loser }}.standing.size as int) as string), ' of the ',
            cast({{ loser }}.claim.quorum as string), ' sources that must agree'
        )
    when {{ loser }}.claim.rule in ('longest', 'largest')
        and not {{ loser }}.standing.size <=> {{ picked }}.standing.size
        then concat('is not the ', {{ loser }}.claim.rule, ': ', {{ source }}, ' says more')
    when {{ loser }}.claim.rule = 'highest_rank' and {{ loser }}.standing.first < {{ picked }}.standing.first
        then concat(
            'rank ', cast({{ loser }}.claim.rank as string), ' is below ', {{ source }}, '''s rank ',
            cast({{ picked }}.claim.rank as string)
        )
    when {{ loser }}.claim.rule = 'most_recent_change' and {{ loser }}.standing.first < {{ picked }}.standing.first
        then concat(
            'last changed its word at ', {{ attest.instant(loser ~ '.claim.since') }}, ', before ', {{ source }}, ' did at ',
            {{ attest.instant(picked ~ '.claim.since') }}
        )
    when {{ loser }}.claim.at < {{ picked }}.claim.at
        then concat(
            'said at ', {{ attest.instant(loser ~ '.claim.at') }}, ', before ', {{ source }}, ' said at ',
            {{ attest.instant(picked ~ '.claim.at') }}
        )
    when {{ loser }}.claim.rank < {{ picked }}.claim.rank
        then concat(
            'said at the same instant, and rank ', cast({{ loser }}.claim.rank as string), ' is below ', {{ source }},
            '''s rank ', cast({{ picked }}.claim.rank as string)
        )
    else concat('same rank and instant; ', {{ source }}, '''s word comes later in the total order')
end
{%- endmacro %}


{% macro instant(at) -%}
date_format({{ at }}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')
{%- endmacro %}
