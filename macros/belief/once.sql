{#
    A query in parentheses that is worked out once, before Spark plans the model that reads it.

    Spark copies a query into every place that names it, and plans each copy: what is read often,
    and has few narrow rows, is known beforehand instead (`attest.once`). Read by anyone else, it is the
    query itself.
#}
{% macro once(query) -%}
(/* once: */ {{ query }} /* :once */)
{%- endmacro %}
