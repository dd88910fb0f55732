{#
    Materialize a model that is computed whole and written only where it differs.

    For what a change anywhere may touch and seldom does: readers find the keys that differ
    in its change feed, as they do in a log. Config: `key` and `identity` as for replace_by_key;
    `idle_without`, a reference without whose rows the table is not even made.
#}
{% materialization by_difference, adapter='spark' -%}

{{ run_hooks(pre_hooks) }}
{%- call statement('main', language='python') %}
{{ build_node(sql) }}
{%- endcall %}
{{ run_hooks(post_hooks) }}
{%- set made = [this.incorporate(type='table')] if adapter.is_there(this.render()) else [] -%}
{{ return({'relations': made}) }}

{%- endmaterialization %}
