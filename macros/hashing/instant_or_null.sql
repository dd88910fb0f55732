{#
    An ISO-8601 string, or none, as a timestamp; without a zone it is UTC.
#}
{% macro instant_or_null(text) -%}
cast({{ 'null' if text is none else attest.quoted(text) }} as timestamp)
{%- endmacro %}
