{#
    Materialize a model as one row a version of a business key: a change ends one and begins another, in one commit.

    Config as for merge. The first build writes all; --full-refresh changes nothing. docs/strategies.md.
#}
{% materialization historic, adapter='spark' %}
{{ return(attest.run_node(attest.process_slice(sql))) }}
{% endmaterialization %}
