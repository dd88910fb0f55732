{#
    What is new in the audit of a dimension: one entry a version that appeared, changed or was taken back.

        INSERT, UPDATE, LOGICAL_DELETE (the entity was deleted, and the version ends there),
        RETRACT (late evidence or another rule took the version back; the crosswalk says what became of it)

    Each names who is believed in what changed, and their assertions; where the row itself cannot say,
    such as of a version that ends because another begins, those that are new to the entity in that run.
#}
{% macro audited(dimension, journal, run) -%}

with changed as (

    {{ attest.differing(dimension, 'version_sk', journal) | indent(4) }}

),

explained as (

    select
        *,
        map_values(map_filter(
            evidence_since,
            (name, told_by) -> new_values is not null and array_contains(changed_columns, name)
        )) as evidence_of_row,
        array_except(
            flatten(collect_list(map_values(evidence_since)) over (partition by bk)),
            flatten(collect_list(map_values(evidence_before)) over (partition by bk))
        ) as new_to_entity

    from (
        select
            *,
            {{ attest.evidence_told("if(change_type = 'RETRACT', null, image['evidence'])") }} as evidence_since,
            {{ attest.evidence_told("coalesce(old_values['evidence'], if(change_type = 'INSERT', null, image['evidence']))") }} as evidence_before

        from changed
    )

),

attributed as (

    select
        *,
        if(size(evidence_of_row) > 0, evidence_of_row, new_to_entity) as told_by

    from explained

)

select
    bk,
    {{ attest.entry_id('version_sk') }} as audit_id,
    version_sk,
    entry,
    change_type,
    changed_columns,
    old_values,
    new_values,
    coalesce(
        if(change_type = 'INSERT', image['change_source'], null),
        nullif(array_join(array_sort(array_distinct(told_by.source_system)), ', '), ''),
        'rules'
    ) as actor,
    case change_type
        when 'INSERT'
            then image['change_reason']
        when 'LOGICAL_DELETE'
            then 'deleted'
        when 'RETRACT'
            then 'restated'
        else concat(array_join(changed_columns, ', '), ' changed')
    end as change_reason,
    array_min(told_by.assertion_id) as correlation_id,
    array_sort(array_distinct(told_by.assertion_id)) as evidence,
    {{ attest.quoted(run) }} as run,
    current_timestamp() as recorded_at

from attributed

{%- endmacro %}


{# Names an entry of a journal. #}
{% macro entry_id(row_key) -%}
sha2(concat({{ row_key }}, ':', entry), 256)
{%- endmacro %}


{# The evidence of a row, out of its image. #}
{% macro evidence_told(image) -%}
from_json({{ image }}, 'map<string, struct<source_system: string, assertion_id: string>>')
{%- endmacro %}
