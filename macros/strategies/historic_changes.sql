{#
    What a slice changes in a table of one row a version: each record, what happens to it, and the rows that it becomes.

        held       [- a ------------
        becomes    [- a ----[- b ---    updated: the one ends where the other begins

        inserted   the table lacks its key
        updated    it has another hash, was deleted, or came back: a deletion is a version, too (law B3)
        unchanged  it becomes nothing
        inferred   the slice would tell it and does not: deleted, by no file
#}
{% macro historic_changes(told, held, columns, steps) -%}

{%- set sk = version_named('held.primary_key') -%}
{%- set closed = as_row('held', columns, {'effective_to': ':processing_time', 'is_current': 'false'}) -%}
{%- set gone = as_row('held', columns, {
    'version_sk': sk,
    'effective_from': ':processing_time',
    'is_deleted': 'true',
    'last_seen_ts': 'coalesce(told.last_seen_ts, held.last_seen_ts)',
    'source_file': 'told.source_file',
}) -%}

select
    told.source_hash is not null as attest_is_told,
    case
        when told.source_hash is null then if(held.attest_in_window and not held.is_deleted, 'inferred', null)
        when held.primary_key is null then 'inserted'
        when told.is_deleted and held.is_deleted then 'unchanged'
        when told.is_deleted <> held.is_deleted or told.source_hash <> held.source_hash then 'updated'
        else 'unchanged'
    end as attest_action,
    case
        {{ problem_of(columns) | indent(8) }}
        when attest_action in ('updated', 'inferred') and held.effective_from >= :processing_time then 'inverted'
    end as attest_problem,
    {{ record_named(steps.named_by) | indent(4) }} as attest_record,
    case
        when attest_action = 'inserted'
            then array({{ as_row('told', columns, {'version_sk': version_named('told.primary_key')}) | indent(12) }})
        when attest_action = 'updated' and not told.is_deleted
            then array(
                {{ closed | indent(16) }},
                {{ as_row('told', columns, {'version_sk': sk}) | indent(16) }}
            )
        when attest_action in ('updated', 'inferred')
            then array(
                {{ closed | indent(16) }},
                {{ gone | indent(16) }}
            )
    end as attest_becomes

from {{ told }} as told
{{ 'full' if steps.infers else 'left' }} join {{ held }} as held on told.primary_key = held.primary_key

{%- endmacro %}
