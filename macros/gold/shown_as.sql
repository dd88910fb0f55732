{#
    The value that a column of this shape shows of an attribute.

    Of an attribute that opens versions, what was before is before the version; else, before now.
#}
{% macro shown_as(attribute, shape) -%}
{{ {
    'original': attribute ~ '_original.value',
    'now': 'now.' ~ attribute,
    'then': attribute,
    'before': attribute ~ '_turn.value',
    'changed_at': attribute ~ '_turn.at',
}[shape] }}
{%- endmacro %}


{# By column, whose word is shown in it and in which assertion; under effective_to, who deleted it. #}
{% macro evidence_of(types) -%}
map_filter(
    map(
        {%- for line in attest.columns_shown(types).split('\n') %}
        {%- set column, attribute, shape = line.split(' ') %}
        {%- if shape in ('original', 'now', 'then') %}
        '{{ column }}', {{ {
            'original': attribute ~ '_original.told_by',
            'now': 'now.' ~ attribute ~ '_told_by',
            'then': attest.told_by(attribute),
        }[shape] }},
        {%- endif %}
        {%- endfor %}
        'effective_to', if(ended.is_deleted, ended.told_by, null)
    ),
    (name, told_by) -> told_by.assertion_id is not null
)
{%- endmacro %}
