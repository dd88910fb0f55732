{#
    Materialize a model by replacing, in one commit, all rows of the keys that have news.

    The first build, and --full-refresh, write the whole table. Config: `key`, the column
    to replace by; `identity`, the columns that no two rows may share; `new_by`, a column by
    which rows that the table has are told from news; `touched_by`, a column that the rows of a
    reference share with the logs: an edited row concerns the keys of that value, and the others
    keep what they have; `partition_by` and `tblproperties` as usual. Serves SQL and Python models alike.
    Keys that `--vars '{rebuild: [KEY, …]}'` names are rebuilt, news or not (docs/write.md).
#}
{% materialization replace_by_key, adapter='spark', supported_languages=['sql', 'python'] %}
{{ return(attest.run_node(attest.build_node(compiled_code))) }}
{% endmaterialization %}
