{#
    Materialize a model as one row a business key: inserted, updated, or flagged as deleted, in one commit.

    Config: `business_key`, the columns of it; `inject` and `calculate`, expressions by column; `untracked`,
    columns whose change is none; `cast` and `rename`; `deleted_when`, a condition on the renamed columns;
    `delete_missing`, true or a condition on the table's columns that says which rows the model would tell;
    `file_name`, an expression. The first build writes all; --full-refresh changes nothing. docs/strategies.md.
#}
{% materialization merge, adapter='spark' %}
{{ return(attest.run_node(attest.process_slice(sql))) }}
{% endmaterialization %}
