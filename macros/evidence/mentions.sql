{#
    What a record says of an entity's attributes, as two columns: mentions and unchanged.

    Law E3: a field that is absent is not mentioned, a null is a mentioned null, and a
    connector's placeholder says "as I last said". `fields` is the landed map;
    `renamed` names the field of an attribute where the feed calls it otherwise.
#}
{% macro mentions(fields, attributes, renamed={}) -%}

map_concat(
{%- for attribute, type in attributes.items() %}
    {%- set field = renamed.get(attribute, attribute) %}
    if({{ attest.is_mentioned(fields, field) }}, map('{{ attribute }}', {{ attest.canonical(fields ~ "['" ~ field ~ "']", type) }}), map()){{ ',' if not loop.last }}
{%- endfor %}
) as mentions,
array_except(
    array(
    {%- for attribute in attributes %}
        if({{ fields }}['{{ renamed.get(attribute, attribute) }}'] = '{{ attest.unchanged_mark() }}', '{{ attribute }}', null){{ ',' if not loop.last }}
    {%- endfor %}
    ),
    array(cast(null as string))
) as unchanged

{%- endmacro %}


{% macro is_mentioned(fields, field) -%}
coalesce({{ fields }}['{{ field }}'] <> '{{ attest.unchanged_mark() }}', map_contains_key({{ fields }}, '{{ field }}'))
{%- endmacro %}


{# What Debezium puts where a long text did not change. #}
{% macro unchanged_mark() -%}
__debezium_unavailable_value
{%- endmacro %}
