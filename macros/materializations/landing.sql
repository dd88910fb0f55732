{#
    A log that commands write, such as a landing table: made empty where it is missing, so that a
    project builds before there is anything in it; a column that is new since is added, all else is
    left alone. Config: `rows`, what it holds (landing, unless it says otherwise), or its columns
    themselves, `columns_held`.
#}
{% materialization landing, adapter='spark' -%}

{%- set columns = tojson(config.get('columns_held')) if config.get('columns_held') else 'ROWS["' ~ config.get('rows', 'landing') ~ '"]' -%}
{%- set code -%}
import json

from attest.logs import ROWS, ensure_log
from attest.write import Table

outcome = ensure_log(spark, Table(**json.loads({{ tojson(tojson(attest.declared_table())) }})), {{ columns }})
{%- endset -%}
{{ return(attest.run_node(code)) }}

{%- endmaterialization %}
