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
{%- set order = attest.build_order(code) -%}
{%- do order.update({'only_news': attest.only_news(key), 'new_by': config.get('new_by'), 'touched_by': config.get('touched_by')}) -%}
{%- do order.update({'rebuild': [var('rebuild')] if var('rebuild', []) is string else var('rebuild', [])}) -%}
{%- do order.update({'idle_without': attest.shared_with(config.get('idle_without', {}), order.references)}) -%}
{%- do order.update({'only_with': config.get('only_with')}) -%}
{%- do order.update({'touched_on': attest.touched_on(order.references)}) -%}
{%- do order.update({'found_by': attest.by_relation(config.get('found_by', {}), order.logs)}) -%}
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
    'table': attest.declared_table(),
} -%}
{%- do order.update(attest.lineage_of(model)) -%}
{{ return(order) }}
{%- endmacro %}


{# Marks concern the entities that their partitions speak of. #}
{% macro touched_on(references) -%}
{%- set conditions = {} -%}
{%- set marks = attest.relation_named('marks', references) -%}
{%- if marks -%}
    {%- do conditions.update({marks: attest.covers('edited', 'log')}) -%}
{%- endif -%}
{{ return(conditions) }}
{%- endmacro %}


{# Each of these references by its relation, with the column that its rows share with the logs. #}
{% macro shared_with(columns, references) -%}
{%- set shared = {} -%}
{%- for name, column in columns.items() -%}
    {%- do shared.update({attest.relation_named(name, references): column}) -%}
{%- endfor -%}
{{ return(shared) }}
{%- endmacro %}


{# The relation of this name among some, or none. #}
{% macro relation_named(name, relations) -%}
{%- for relation in relations if relation.replace('`', '').split('.')[-1] == name -%}
    {{ return(relation) }}
{%- endfor -%}
{{ return(none) }}
{%- endmacro %}


{# By which column of the facts each dimension is found, the dimensions by the names of their tables. #}
{% macro by_relation(found_by, logs) -%}
{%- set named = {} -%}
{%- for dimension, column in found_by.items() -%}
    {%- set tables = [] -%}
    {%- for log in logs if log.replace('`', '').split('.')[-1] == dimension -%}
        {%- do tables.append(log) -%}
    {%- endfor -%}
    {%- if not tables -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ': found_by names ' ~ dimension ~ ', which is no dimension that this model reads and that keeps a '
            ~ 'change feed. Correct the name, or have it written like the others under models: gold: in dbt_project.yml.'
        ) }}
    {%- endif -%}
    {%- do named.update({tables[0]: column}) -%}
{%- endfor -%}
{{ return(named) }}
{%- endmacro %}
