{#
    Materialize a ledger: one more row at each build in which something that it reads changed.

    Nothing is ever updated or removed: the table refuses it, and --full-refresh leaves it as it is.
#}
{% materialization ledger, adapter='spark' -%}

{{ run_hooks(pre_hooks) }}
{%- call statement('main', language='python') %}
from attest.basis import stamp

outcome = stamp(spark, {{ tojson(tojson(build_order(sql))) }})
{%- endcall %}
{{ run_hooks(post_hooks) }}
{{ return({'relations': [this.incorporate(type='table')]}) }}

{%- endmaterialization %}
