{#
    Make a view, unless it is there and would be the same.

    It would be where neither its statement changed nor the columns of what it reads (`attest.views`).
    --full-refresh makes every view again.
#}
{% macro spark__create_view_as(relation, sql) -%}

{%- set statement = dbt.spark__create_view_as(relation, sql) -%}
{%- set reads = [] -%}
{%- do attest.collect_parents(model, reads) -%}
{%- set made_of = adapter.view_made_of(statement, reads) -%}
{%- if not should_full_refresh() and adapter.is_view_made(relation.render(), sql, made_of) -%}
-- It would be the same, so it is not made again.
select 'there' as view
{%- else -%}
{#- dbt's statement ends with `as` and the query; properties go before. -#}
{%- set before_query = (statement | trim)[: -(sql | trim | length)] | trim -%}
{{ before_query[:-2] }}
  tblproperties ('attest.made_of' = '{{ made_of }}')
  as
    {{ sql | trim }}
{%- endif -%}

{%- endmacro %}


{# The relations that a node reads, those of what it only holds as text included. #}
{% macro collect_parents(node, reads) -%}
{%- for parent_id in node.depends_on.nodes -%}
    {%- set parent = graph.nodes.get(parent_id) or graph.sources.get(parent_id) -%}
    {%- if parent.config.materialized == 'ephemeral' -%}
        {%- do attest.collect_parents(parent, reads) -%}
    {%- elif parent.relation_name not in reads -%}
        {%- do reads.append(parent.relation_name) -%}
    {%- endif -%}
{%- endfor -%}
{%- endmacro %}
