{#
    Materialize a journal: each build appends what now differs from what the journal itself tells.

    So each change is told once, whatever happened between two builds, and the journal played
    back gives what it was told of. Nothing is ever updated or removed: the table refuses it, and
    --full-refresh leaves it as it is. The model compares its input with `this`, both with_news.
    Config: `key` and `identity` as for replace_by_key.
#}
{% materialization journal, adapter='spark' %}
{{ return(attest.run_node(attest.build_node(sql))) }}
{% endmaterialization %}
