{#
    Load a seed in one commit, and only when its file changed.

    dbt's own way drops and refills the table at every build; a build without news must
    write nothing. Config: `column_types` for every column, in the file's order.
#}
{% materialization seed, adapter='spark' -%}

{%- set order = {
    'path': model.root_path ~ '/' ~ model.original_file_path,
    'column_types': config.require('column_types'),
    'full_refresh': should_full_refresh(),
    'table': declared_table(),
} -%}

{{ run_hooks(pre_hooks) }}
{%- call statement('main', language='python') %}
from attest.seed import load

outcome = load(spark, {{ tojson(tojson(order)) }})
{%- endcall %}
{%- do store_result('agate_table', response='OK', agate_table=load_agate_table()) -%}
{{ run_hooks(post_hooks) }}
{{ return({'relations': [this.incorporate(type='table')]}) }}

{%- endmaterialization %}
