{#
    What happens to each record in a history:

        inserted   the table lacks its key
        updated    it has another hash, was deleted, or came back: a deletion is a version, too (law B3)
        unchanged  it becomes nothing
        inferred   the slice would tell it and does not: deleted, by no file
#}
{% macro historic_changes() -%}
case
    when told.source_hash is null then if(held.attest_in_window and not held.is_deleted, 'inferred', null)
    when held.primary_key is null then 'inserted'
    when told.is_deleted and held.is_deleted then 'unchanged'
    when told.is_deleted <> held.is_deleted or told.source_hash <> held.source_hash then 'updated'
    else 'unchanged'
end
{%- endmacro %}


{#
    The versions that each of them becomes:

        held       [- a ------------
        becomes    [- a ----[- b ---    the one ends where the other begins
#}
{% macro historic_rows(columns) -%}
{%- set sk = attest.version_named('held_primary_key') -%}
{%- set closed = attest.as_row('held', columns, {
    'version_sk': attest.version_named('held_primary_key', 'held_effective_from'),
    'effective_to': ':processing_time',
    'is_current': 'false',
}) -%}
{%- set gone = attest.as_row('held', columns, {
    'version_sk': sk,
    'effective_from': ':processing_time',
    'is_deleted': 'true',
    'last_seen_ts': 'coalesce(told_last_seen_ts, held_last_seen_ts)',
    'source_file': 'told_source_file',
}) -%}
case
    when attest_action = 'inserted'
        then array({{ attest.as_row('told', columns, {'version_sk': attest.version_named('told_primary_key')}) | indent(8) }})
    when attest_action = 'updated' and not told_is_deleted
        then array(
            {{ closed | indent(12) }},
            {{ attest.as_row('told', columns, {'version_sk': sk}) | indent(12) }}
        )
    when attest_action in ('updated', 'inferred')
        then array(
            {{ closed | indent(12) }},
            {{ gone | indent(12) }}
        )
end
{%- endmacro %}
