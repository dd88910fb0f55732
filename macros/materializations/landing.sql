{#
    A landing table: made empty where it is missing, so that a project builds before anything
    landed, and otherwise left alone. `attest land` writes it.
#}
{% materialization landing, adapter='spark' -%}

{%- set relation = this.incorporate(type='table') -%}
{%- if load_cached_relation(this) is none %}
    {%- call statement('main', language='python') %}
import json

from attest.land import ensure_table
from attest.write import Table

outcome = ensure_table(spark, Table(**json.loads({{ tojson(tojson(declared_table())) }})))
    {%- endcall %}
{%- else %}
    {%- call noop_statement('main', 'there') %}{% endcall %}
{%- endif %}
{{ return({'relations': [relation]}) }}

{%- endmaterialization %}
