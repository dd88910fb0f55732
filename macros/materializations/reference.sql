{#
    Materialize a small table that is rewritten, in one commit, only when its content changed.

    What reads it is rebuilt whole when it changes, and only then: so it holds what
    matters to its readers and nothing that changes with every build.
#}
{% materialization reference, adapter='spark' -%}

{%- set order = {
    'sql': sql,
    'table': declared_table(),
} -%}

{{ run_hooks(pre_hooks) }}
{%- call statement('main', language='python') %}
from attest.build import build_reference

outcome = build_reference(spark, {{ tojson(tojson(order)) }}, full_refresh={{ should_full_refresh() }})
{%- endcall %}
{{ run_hooks(post_hooks) }}
{{ return({'relations': [this.incorporate(type='table')]}) }}

{%- endmaterialization %}
