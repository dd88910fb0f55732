{#
    What a slice makes of a table that is new, or whose rows give way to it: every record is a row.
#}
{% macro full_changes(told, columns, steps) -%}

select
    told.source_hash is not null as attest_is_told,
    if(told.is_deleted, 'deleted', 'inserted') as attest_action,
    case
        {{ problem_of(columns) | indent(8) }}
    end as attest_problem,
    {{ record_named(steps.named_by) | indent(4) }} as attest_record,
    array({{ as_row('told', columns, {'version_sk': version_named('told.primary_key')}) | indent(4) }}) as attest_becomes

from {{ told }} as told

{%- endmacro %}
