{#
    A landing table: made empty where it is missing, so that a project builds before anything
    landed, and otherwise left alone. `attest land` writes it.
#}
{% materialization landing, adapter='spark' -%}

{%- set relation = this.incorporate(type='table') -%}
{%- if load_cached_relation(this) is none %}
    {%- call statement('main', language='python') %}
from attest.land import ensure_table

outcome = ensure_table(spark, {{ tojson(this.render()) }}, description={{ tojson(model.description) }})
    {%- endcall %}
{%- else %}
    {%- call noop_statement('main', 'there') %}{% endcall %}
{%- endif %}
{{ return({'relations': [relation]}) }}

{%- endmaterialization %}
