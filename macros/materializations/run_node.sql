{#
    Run the Python that makes a node, between the model's hooks, and tell dbt what is there now.

    Not by dbt's `statement`: that runs Python only where a materialization calls it itself, so that a project
    which uses this one as a package could not name its way to load seeds.
#}
{% macro run_node(code) -%}

{{ run_hooks(pre_hooks) }}
{{ write(code) }}
{%- set response = adapter.submit_python_job(model, code) -%}
{{ store_result('main', response=response, agate_table=none) }}
{%- for warning in response.warnings -%}
    {%- do exceptions.warn(model.name ~ ': ' ~ warning) -%}
{%- endfor %}
{{ run_hooks(post_hooks) }}
{{ return({'relations': [this.incorporate(type='table')] if adapter.is_there(this.render()) else []}) }}

{%- endmacro %}
