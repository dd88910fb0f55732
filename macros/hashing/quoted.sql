{#
    Any text as an SQL string; quotes and backslashes in it stay text.
#}
{% macro quoted(text) -%}
'{{ text | string | replace("\\", "\\\\") | replace("'", "\\'") }}'
{%- endmacro %}
