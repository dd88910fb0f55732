{#
    Materialize a log: each build appends, in one commit, the rows of landings it has not read.

    Nothing is ever updated or removed: the table refuses it, and --full-refresh leaves it
    as it is. To read all landings again, drop the table by hand. Config: `key`, the column
    that names a landing; `identity` as for replace_by_key.
#}
{% materialization append_only, adapter='spark', supported_languages=['sql', 'python'] %}
{{ return(attest.run_node(attest.build_node(compiled_code))) }}
{% endmaterialization %}
