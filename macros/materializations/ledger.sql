{#
    Materialize a ledger: one more row at each build in which something that it reads changed.

    Nothing is ever updated or removed: the table refuses it, and --full-refresh leaves it as it is.
#}
{% materialization ledger, adapter='spark' -%}

{%- set code -%}
from attest.basis import stamp

outcome = stamp(spark, {{ tojson(tojson(attest.build_order(sql))) }})
{%- endset -%}
{{ return(attest.run_node(code)) }}

{%- endmaterialization %}
