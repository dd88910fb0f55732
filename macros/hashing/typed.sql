{#
    A canonical value as a column of its type: the way back from canonical().
#}
{% macro typed(canonical, type='string') -%}
{%- if type == 'string' -%}
substring({{ canonical }}, 2, length({{ canonical }}) - 2)
{%- else -%}
cast({{ canonical }} as {{ type }})
{%- endif -%}
{%- endmacro %}
