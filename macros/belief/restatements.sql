{#
    What would be answered differently at two dates of knowledge, for which instants, and because of what.

    The earlier answer leaves out what the lake learned in between: what arrived, and what
    was back-filled with an older arrival (law S6), which is named as such.
#}
{% macro restatements(assertions, rules, attributes, known_at_1, known_at_2) -%}

{%- set first, second = attest.instant_or_null(known_at_1), attest.instant_or_null(known_at_2) -%}
{%- set learned = '(select * from ' ~ assertions ~ ' where recorded_at <= ' ~ first ~ ' or recorded_at > ' ~ second ~ ')' -%}

with changed as (

    {{ attest.differences(
        attest.history(learned, rules, attributes, known_at=first),
        attest.history(assertions, rules, attributes, known_at=second),
        attributes
    ) | indent(4) }}

),

explained as (

    select
        changed.*,
        said.ingest_ts,
        said.is_backfilled,
        said.source_file,
        coalesce(said.known_from > {{ first }} or said.recorded_at between {{ first }} and {{ second }}, false) as is_new_evidence,
        coalesce(ruled.known_from > {{ first }} and ruled.known_from <= {{ second }}, false)
            or coalesce(was_ruled.known_to > {{ first }} and was_ruled.known_to <= {{ second }}, false) as is_new_rule

    from changed
    left join {{ assertions }} as said
        on changed.bk = said.bk
        and changed.after.assertion_id = said.assertion_id
        and {{ attest.is_within(second, 'said.known_from', 'said.known_until') }}
    left join {{ rules }} as ruled
        on changed.attribute = ruled.attribute and changed.after.rule_id = ruled.rule_id
    left join {{ rules }} as was_ruled
        on changed.attribute = was_ruled.attribute and changed.before.rule_id = was_ruled.rule_id

)

select
    bk,
    attribute,
    effective_from,
    effective_to,
    before.value as value_before,
    before.source_system as source_before,
    after.value as value_after,
    after.source_system as source_after,
    case
        when is_new_rule and is_new_evidence then 'evidence and rule'
        when is_new_rule then 'rule'
        else 'evidence'
    end as because,
    after.assertion_id,
    ingest_ts,
    source_file,
    is_backfilled,
    after.rule_id

from explained

{%- endmacro %}
