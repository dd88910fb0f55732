{#
    Materialize a small table that counts as changed only when its content did.

    What reads it is rebuilt whole when it changes, and only then: so it holds what
    matters to its readers and nothing that changes with every build. Config: `turns_at`,
    a column of instants at which time alone changes the table.
#}
{% materialization reference, adapter='spark' -%}

{%- set order = attest.build_order(sql) -%}
{%- do order.update({'turns_at': config.get('turns_at')}) -%}
{%- set code -%}
from attest.build import build_reference

outcome = build_reference(spark, {{ tojson(tojson(order)) }})
{%- endset -%}
{{ return(attest.run_node(code)) }}

{%- endmaterialization %}
