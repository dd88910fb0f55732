{#
    What a slice makes of a table that is new, or whose rows give way to it: every record is a row.
#}
{% macro full_changes() -%}
if(told.is_deleted, 'deleted', 'inserted')
{%- endmacro %}


{% macro full_rows(columns) -%}
array({{ attest.as_row('told', columns, {'version_sk': attest.version_named('told_primary_key')}) }})
{%- endmacro %}
