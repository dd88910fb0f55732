{#
    Materialize a model as one row a version of a business key: a change ends one and begins another, in one commit.

    Config as for merge. The first build writes all; --full-refresh changes nothing. docs/strategies.md.
#}
{% materialization historic, adapter='spark' -%}

{{ run_hooks(pre_hooks) }}
{%- call statement('main', language='python') %}
{{ process_slice(sql) }}
{%- endcall %}
{%- do tell_warnings(load_result('main').response) %}
{{ run_hooks(post_hooks) }}
{{ return({'relations': [this.incorporate(type='table')]}) }}

{%- endmaterialization %}
