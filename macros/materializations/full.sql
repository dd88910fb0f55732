{#
    Materialize a model by putting its rows in the place of those that the table has.

    With `partition_by`, in the place of the partitions that it has rows of, and no others. Config: as
    for merge, but for `delete_missing`. docs/strategies.md has all three strategies.
#}
{% materialization full, adapter='spark' %}
{{ return(attest.run_node(attest.process_slice(sql))) }}
{% endmaterialization %}
