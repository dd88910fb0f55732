{#
    The tables that a node reads, through views: where its news comes from.

    Logs tell their news by version, row by row: landing tables, evidence, and tables with a
    change feed; inputs (other tables) are read through to theirs; references (rules, seeds,
    what a strategy writes) are watched for being edited, views for their text; others attest did not build.
#}
{% macro lineage_of(node) -%}
{%- set lineage = {'logs': [], 'inputs': [], 'references': [], 'views': [], 'others': []} -%}
{%- do attest.collect_lineage(node, lineage) -%}
{{ return(lineage) }}
{%- endmacro %}


{% macro collect_lineage(node, lineage) -%}

{%- for parent_id in node.depends_on.nodes -%}
    {%- set parent = graph.nodes.get(parent_id) or graph.sources.get(parent_id) -%}
    {%- set materialized = parent.config.materialized if parent.resource_type != 'source' -%}
    {%- set tells_changes = (parent.config.get('tblproperties') or {}).get('delta.enableChangeDataFeed') == 'true' -%}
    {%- if materialized in ('landing', 'append_only', 'journal') or (materialized in ('replace_by_key', 'by_difference') and tells_changes) -%}
        {%- set found = lineage.logs -%}
    {%- elif materialized in ('replace_by_key', 'by_difference') -%}
        {%- set found = lineage.inputs -%}
    {%- elif materialized in ('reference', 'seed', 'full', 'merge', 'historic') -%}
        {%- set found = lineage.references -%}
    {%- elif materialized in ('view', 'ephemeral') -%}
        {%- set found = lineage.views -%}
        {%- do attest.collect_lineage(parent, lineage) -%}
    {%- else -%}
        {%- set found = lineage.others -%}
    {%- endif -%}
    {%- if materialized != 'ephemeral' and parent.relation_name not in found -%}
        {%- do found.append(parent.relation_name) -%}
    {%- endif -%}
{%- endfor -%}

{%- endmacro %}
