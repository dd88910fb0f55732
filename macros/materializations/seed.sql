{#
    Load a seed in one commit, and only when its file changed.

    dbt's own way drops and refills the table at every build; a build without news must
    write nothing. Config: `column_types` for every column, in the file's order; a seed that
    attest ships too, such as `precedence`, has its types without.
#}
{% materialization seed, adapter='spark' -%}

{%- set order = {
    'root': model.root_path,
    'path': model.root_path ~ '/' ~ model.original_file_path,
    'column_types': config.get('column_types', {}),
    'full_refresh': should_full_refresh(),
    'table': attest.declared_table(),
} -%}
{%- set code -%}
from attest.seed import load

outcome = load(spark, {{ tojson(tojson(order)) }})
{%- endset -%}
{%- do store_result('agate_table', response='OK', agate_table=load_agate_table()) -%}
{{ return(attest.run_node(code)) }}

{%- endmaterialization %}
