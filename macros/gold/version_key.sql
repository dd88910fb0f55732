{#
    Law C2: the key of the version that begins here: the entity, the start, and the assertions that it begins with.

    They are those that the attributes which open versions are believed on. So late evidence
    that leaves a version's beginning alone leaves its key alone, and no other version ever has it.
#}
{% macro version_key(attributes) -%}
sha2(concat(
    sk,
    {{ attest.encode('cast(unix_micros(effective_from) as string)') }}
    {%- for attribute in attributes %},
    '{{ attribute | length }}:{{ attribute }}',
    {{ attest.encode(attribute ~ '_assertion') }}
    {%- endfor %}
), 256)
{%- endmacro %}


{# Equal hashes, equal values of what opens versions. #}
{% macro hash_of(attributes) -%}
sha2(concat(
    '{{ attributes | length }}#'
    {%- for attribute in attributes %},
    '{{ attribute | length }}:{{ attribute }}',
    {{ attest.encode('cast(' ~ attribute ~ ' as string)') }}
    {%- endfor %}
), 256)
{%- endmacro %}
