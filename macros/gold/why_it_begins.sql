{#
    Why a version begins, in words: first known, known again after a gap, or which values changed.
#}
{% macro why_it_begins(attributes) -%}
case
    when is_first
        then 'first known'
    when is_known_anew
        then 'known again'
    else concat(array_join(array_compact(array(
        {%- for attribute in attributes %}
        if(changes.{{ attribute }}, '{{ attribute }}', null){{ ',' if not loop.last }}
        {%- endfor %}
    )), ', '), ' changed')
end
{%- endmacro %}


{# On whose word: the sources believed of what changed. #}
{% macro who_opened_it(attributes) -%}
nullif(array_join(array_sort(array_distinct(array_compact(cast(array(
    {%- for attribute in attributes %}
    if(is_known_anew or changes.{{ attribute }}, {{ attribute }}_source, null){{ ',' if not loop.last }}
    {%- endfor %}
) as array<string>)))), ', '), '')
{%- endmacro %}
