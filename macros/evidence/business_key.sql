{#
    The business key of a record, from the fields that name its entity: C123, or C123|A-001.

    Two different sets of parts never give one key: what a part has of the delimiter is
    written ~1, and of the sign that says so, ~0. One field alone stays the text it is,
    and a part that is missing leaves no key at all.
#}
{% macro business_key(fields, parts) -%}
{%- if parts | length == 1 -%}
{{ attest.key_part(fields, parts[0]) }}
{%- else -%}
concat(
    {%- for part in parts %}
    replace(replace({{ attest.key_part(fields, part) }}, '~', '~0'), '|', '~1'){{ ",\n    '|'," if not loop.last }}
    {%- endfor %}
)
{%- endif -%}
{%- endmacro %}


{# Outer spaces name nothing, and neither does what has nothing else. #}
{% macro key_part(fields, name) -%}
nullif(trim(both ' ' from {{ fields }}['{{ name }}']), '')
{%- endmacro %}
