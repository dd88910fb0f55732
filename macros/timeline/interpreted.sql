{#
    A packed payload's fields beside the versions that hold it, as one interpretation reads them.

    Section 6.6.7: the payload is the evidence, and its hash stays what it was; the fields are
    derived. They are known from when both the payload had arrived and this reading of it was
    ours, so that unpacking later never claims to have known earlier. `fields` maps a name to
    a JSON path ($.…) or an XPath (/…).
#}
{% macro interpreted(versions, payload, fields, interpretation, known_from) -%}

select
    *,
    {%- for name, path in fields.items() %}
    {%- if path.startswith('$') %}
    get_json_object({{ payload }}, {{ attest.quoted(path) }}) as {{ name }},
    {%- else %}
    xpath_string({{ payload }}, {{ attest.quoted(path) }}) as {{ name }},
    {%- endif %}
    {%- endfor %}
    {{ attest.quoted(interpretation) }} as interpretation,
    greatest(first_seen_ts, {{ attest.instant_or_null(known_from) }}) as interpretation_known_from

from {{ versions }}

{%- endmacro %}
