{#
    SQL without its indentation, so that a long view fits: the embedded catalog takes 32,700 characters at the most.
#}
{% macro squeezed(sql) -%}
{{ modules.re.sub('\n +', '\n', sql) }}
{%- endmacro %}
