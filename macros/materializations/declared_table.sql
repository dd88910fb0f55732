{#
    The table as its model or seed declares it, for the package's writer.
#}
{% macro declared_table() -%}

{%- set comments = {} -%}
{%- for column in model.columns.values() -%}
    {%- do comments.update({column.name: column.description}) -%}
{%- endfor -%}
{{ return({
    'name': this.render(),
    'partition_by': config.get('partition_by', []),
    'properties': config.get('tblproperties', {}),
    'description': model.description,
    'comments': comments,
}) }}

{%- endmacro %}
