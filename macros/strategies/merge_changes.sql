{#
    What happens to each record by merge:

        inserted   the table lacks its key
        changed    it has another hash, or had been deleted
        touched    it is the same: only the time it was last seen moves
        deleted    its source says that it is gone: the row stays, flagged; still_deleted, if it was already
        inferred   the slice would tell it and does not: likewise, but it was not seen
#}
{% macro merge_changes() -%}
case
    when told.source_hash is null then if(held.attest_in_window and not held.is_deleted, 'inferred', null)
    when told.is_deleted then if(held.is_deleted, 'still_deleted', 'deleted')
    when held.primary_key is null then 'inserted'
    when held.is_deleted or held.source_hash <> told.source_hash then 'changed'
    else 'touched'
end
{%- endmacro %}


{# The row that each of them becomes. #}
{% macro merge_rows(columns) -%}
{%- set seen = 'greatest(held_last_seen_ts, :processing_time)' -%}
case
    when attest_action in ('inserted', 'changed') or (attest_action = 'deleted' and held_primary_key is null)
        then array({{ attest.as_row('told', columns, {'last_seen_ts': seen}) | indent(8) }})
    when attest_action = 'touched'
        then array({{ attest.as_row('held', columns, {'last_seen_ts': seen}) | indent(8) }})
    when attest_action in ('deleted', 'still_deleted')
        then array({{ attest.as_row('held', columns, {'last_seen_ts': seen, 'is_deleted': 'true'}) | indent(8) }})
    when attest_action = 'inferred'
        then array({{ attest.as_row('held', columns, {'is_deleted': 'true'}) | indent(8) }})
end
{%- endmacro %}
