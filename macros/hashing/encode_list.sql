{#
    A set of names as one text, in their own order, their count first. Most are empty, and Spark does not compile lambdas.
#}
{% macro encode_list(names) -%}
if(
    size({{ names }}) = 0,
    '0#',
    concat(size({{ names }}), '#', array_join(transform(array_sort({{ names }}), name -> {{ attest.encode('name') }}), ''))
)
{%- endmacro %}
