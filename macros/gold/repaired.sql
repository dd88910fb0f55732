{#
    The facts whose key a restatement changed after they were loaded: one row a fact, key and repair.
#}
{% macro repaired(journal) -%}

select
    bk,
    event_hash,
    key_column,
    old_values[key_column] as old_version_sk,
    new_values[key_column] as new_version_sk,
    case
        when old_values[key_column] is null
            then 'The dimension came late: a version covers the fact now.'
        when new_values[key_column] is null
            then 'Nothing covers the fact any more: it falls in a gap.'
        else 'The version that covers the fact is another one: its history was restated.'
    end as because,
    entry,
    run,
    recorded_at

from {{ journal }}
lateral view explode(changed_columns) as key_column
where change_type = 'UPDATE'

{%- endmacro %}
