{#
    A landing table: made empty where it is missing, so that a project builds before anything
    landed; a column that is new since is added, all else is left alone. `attest land` writes it.
#}
{% materialization landing, adapter='spark' -%}

{%- set relation = this.incorporate(type='table') -%}
{%- call statement('main', language='python') %}
import json

from attest.land import ensure_table
from attest.write import Table

outcome = ensure_table(spark, Table(**json.loads({{ tojson(tojson(declared_table())) }})))
{%- endcall %}
{{ return({'relations': [relation]}) }}

{%- endmaterialization %}
