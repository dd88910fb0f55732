{#
    Materialize a model that is computed whole and written only where it differs.

    For what a change anywhere may touch and seldom does: readers find the keys that differ
    in its change feed, as they do in a log. Config: `key` and `identity` as for replace_by_key;
    `idle_without`, references, each with a column that its rows share with the logs: until some do, the table
    is not even made; `only_with`, a condition on the rows of its logs: without any such row the table has
    none, and is not computed.
#}
{% materialization by_difference, adapter='spark' %}
{{ return(attest.run_node(attest.build_node(sql))) }}
{% endmaterialization %}
