{#
    Which columns the types of a dimension's attributes show, one a line: its name, the attribute, the shape.

        original    its first value        0
        now         its newest value       1, 3, 4, 5, and beside `then` in 6
        then        its value at the time  2, 6, 7: a change of it opens a version
        before      its value before       3 (of the newest), 6 (of the one at the time)
        changed_at  since when it has it   3, 6

    The first shape has the attribute's own name, so several types of one attribute show it in
    several columns. A type is a number or a list of them.
#}
{% macro columns_shown(types) -%}

{%- set shapes = {
    0: ['original'],
    1: ['now'],
    2: ['then'],
    3: ['now', 'before', 'changed_at'],
    4: ['now'],
    5: ['now'],
    6: ['then', 'now', 'before', 'changed_at'],
    7: ['then'],
} -%}
{%- set names = {'original': 'original_%s', 'now': 'current_%s', 'then': '%s_then', 'before': 'previous_%s', 'changed_at': '%s_changed_at'} -%}
{%- set columns = [] -%}
{%- for attribute, declared in types.items() -%}
    {%- set shown = [] -%}
    {%- for type in ([declared] if declared is number else declared) -%}
        {%- for shape in shapes[type] if shape not in shown -%}
            {%- do columns.append((names[shape] % attribute if shown else attribute) ~ ' ' ~ attribute ~ ' ' ~ shape) -%}
            {%- do shown.append(shape) -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endfor -%}
{{ columns | join('\n') }}

{%- endmacro %}


{# The attributes, in their own order, of which some column has one of these shapes. #}
{% macro attributes_shown(types, shapes) -%}
{%- set found = [] -%}
{%- for line in attest.columns_shown(types).split('\n') -%}
    {%- set column, attribute, shape = line.split(' ') -%}
    {%- if shape in shapes and attribute not in found -%}
        {%- do found.append(attribute) -%}
    {%- endif -%}
{%- endfor -%}
{{ found | sort | join(' ') }}
{%- endmacro %}


{# The attributes of type 5, in their own order: of their history table, the current row's key is shown. #}
{% macro outrigger_of(types) -%}
{%- set found = [] -%}
{%- for attribute, declared in types.items() if declared == 5 or (declared is iterable and 5 in declared) -%}
    {%- do found.append(attribute) -%}
{%- endfor -%}
{{ found | sort | join(' ') }}
{%- endmacro %}
