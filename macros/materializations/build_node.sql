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
{%- set lineage = {'logs': [], 'inputs': []} -%}
{%- do collect_lineage(model, lineage) -%}
{%- set table = declared_table() -%}
{%- do table.update({'key': config.require('key'), 'identity': config.get('identity', [])}) -%}
{%- set order = {
    'materialized': config.get('materialized'),
    'full_refresh': should_full_refresh() and config.get('materialized') != 'append_only',
    'logs': lineage.logs,
    'inputs': lineage.inputs,
    'sql': code if model.language == 'sql' else none,
    'table': table,
} -%}
{%- if model.language == 'python' %}
{{ code }}

compute = lambda: model(dbtObj(spark.table), spark)
{%- else %}
compute = None
{%- endif %}
from attest.build import build

outcome = build(spark, {{ tojson(tojson(order)) }}, compute)

{%- endmacro %}


{#
    Walk up through views to the tables that news comes from.

    Logs are append-only (landing tables, evidence) and are read by version; the
    other inputs (replaced tables, seeds) are watched for being rebuilt or edited.
#}
{% macro collect_lineage(node, lineage) -%}

{%- for parent_id in node.depends_on.nodes -%}
    {%- set parent = graph.nodes.get(parent_id) or graph.sources.get(parent_id) -%}
    {%- if parent.config.materialized in ('landing', 'append_only') -%}
        {%- set found = lineage.logs -%}
    {%- elif parent.config.materialized in ('replace_by_key', 'reference', 'seed') -%}
        {%- set found = lineage.inputs -%}
    {%- else -%}
        {%- set found = none -%}
        {%- do collect_lineage(parent, lineage) -%}
    {%- endif -%}
    {%- if found is not none and parent.relation_name not in found -%}
        {%- do found.append(parent.relation_name) -%}
    {%- endif -%}
{%- endfor -%}

{%- endmacro %}
