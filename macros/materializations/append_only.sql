{#
    Materialize a log: each build appends, in one commit, the rows of landings it has not read.

    Nothing is ever updated or removed: the table refuses it, and --full-refresh leaves it
    as it is. To read all landings again, drop the table by hand. Config: `key`, the column
    that names a landing; `identity` as for replace_by_key.
#}
{% materialization append_only, adapter='spark', supported_languages=['sql', 'python'] -%}

{{ run_hooks(pre_hooks) }}
{%- call statement('main', language='python') %}
{{ build_node(sql if model.language == 'sql' else compiled_code) }}
{%- endcall %}
{{ run_hooks(post_hooks) }}
{{ return({'relations': [this.incorporate(type='table')]}) }}

{%- endmaterialization %}
