{#
    The Python that builds a node: the model's own, where it is Python, then the package's builder.

    One way for SQL and Python models: the order says what to build, and the builder finds
    the news, writes it, and answers with `outcome`, which the adapter reports.
#}
{% macro build_node(code) -%}

{%- set existing = load_cached_relation(this) -%}
{%- if existing is not none and existing.is_view -%}
    {{ exceptions.raise_compiler_error(this ~ ' is a view. Drop it, then build again.') }}
{%- endif -%}
{%- set key = config.require('key') -%}
{%- set order = build_order(code) -%}
{%- do order.update({'only_news': only_news(key), 'new_by': config.get('new_by'), 'touched_by': config.get('touched_by')}) -%}
{%- do order.table.update({'key': key, 'identity': config.get('identity', [])}) -%}
{%- if model.language == 'python' %}
{{ code }}

compute = lambda: model(dbtObj(spark.table), spark)
{%- else %}
compute = None
{%- endif %}
from attest.build import build

outcome = build(spark, {{ tojson(tojson(order)) }}, compute)

{%- endmacro %}


{# What the package needs to know to build a node: its code, its table, and where its news comes from. #}
{% macro build_order(code) -%}
{%- set order = {
    'materialized': config.get('materialized'),
    'full_refresh': should_full_refresh(),
    'code': code,
    'is_python': model.language == 'python',
    'table': declared_table(),
} -%}
{%- do order.update(lineage_of(model)) -%}
{{ return(order) }}
{%- endmacro %}
