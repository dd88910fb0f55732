{#
    The types of a dimension's attributes, refused where they cannot stand: what is wrong, and what to do.

    An attribute that has no type is not in the dimension.
#}
{% macro types_declared(entity, types) -%}

{%- set attributes = attest.attributes_of(entity) -%}
{%- set own = [
    'version_sk', 'sk', 'bk', 'version', 'history_version_sk', 'effective_from', 'effective_to', 'current_flag',
    'change_reason', 'change_source', 'end_reason', 'attr_hash', 'evidence',
] -%}
{%- if not types -%}
    {{ attest.refuse_types('NoTypeError', 'no attribute of ' ~ entity ~ ' has a type. Give at least one, such as ' ~ attributes.keys() | first | default('name') ~ ': 2.') }}
{%- endif -%}
{%- for attribute, declared in types.items() -%}
    {%- if attribute not in attributes -%}
        {{ attest.refuse_types('UnknownAttributeError', entity ~ ' has no attribute ' ~ attribute ~ '. It has: ' ~ attributes.keys() | join(', ')
            ~ '. Correct the name, or declare it in dbt_project.yml.') }}
    {%- endif -%}
    {%- for type in ([declared] if declared is number or declared is string else declared) if type not in range(8) -%}
        {{ attest.refuse_types('UnknownTypeError', attribute ~ ' is declared as type ' ~ type ~ '. There are 0 to 7; docs/scd.md says what each shows.') }}
    {%- endfor -%}
{%- endfor -%}
{%- set taken = [] -%}
{%- for line in attest.columns_shown(types).split('\n') -%}
    {%- set column = line.split(' ')[0] -%}
    {%- if column in own + taken -%}
        {{ attest.refuse_types('RepeatedColumnError', 'the dimension would have two columns ' ~ column ~ '. Rename the attribute, or give it other types.') }}
    {%- endif -%}
    {%- do taken.append(column) -%}
{%- endfor -%}
{{ return(types) }}

{%- endmacro %}


{# Told when it is built: dbt also parses the models that a project has switched off. #}
{% macro refuse_types(error, what) -%}
{%- if execute -%}
{{ exceptions.raise_compiler_error(error ~ ': ' ~ model.name ~ ': ' ~ what) }}
{%- endif -%}
{%- endmacro %}


{# How the open window of a dimension ends, once for the project. #}
{% macro open_end() -%}
{{ return(var('open_end', none)) }}
{%- endmacro %}
