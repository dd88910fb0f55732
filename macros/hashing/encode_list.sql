{#
    A set of names as one text, in their own order, their count first.
#}
{% macro encode_list(names) -%}
concat(size({{ names }}), '#', array_join(transform(array_sort({{ names }}), name -> {{ attest.encode('name') }}), ''))
{%- endmacro %}
