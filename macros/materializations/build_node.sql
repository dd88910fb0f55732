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
{%- do order.update({'idle_without': attest.by_relation('idle_without', order.references,
    'no reference that this model reads. Correct the name.')}) -%}
{%- do order.update({'only_with': config.get('only_with')}) -%}
{%- do order.update({'touched_on': attest.touched_on(order.references)}) -%}
{%- do order.update({'found_by': attest.by_relation('found_by', order.logs,
    'no dimension that this model reads and that keeps a change feed. '
    ~ 'Correct the name, or have it written like the others under models: gold: in dbt_project.yml.')}) -%}
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


{# The relation of this name among some, or none. #}
{% macro relation_named(name, relations) -%}
{%- for relation in relations if relation.replace('`', '').split('.')[-1] == name -%}
    {{ return(relation) }}
{%- endfor -%}
{{ return(none) }}
{%- endmacro %}


{# An option that gives columns by the names of relations, as columns by relation. #}
{% macro by_relation(option, relations, lacking) -%}
{%- set named = {} -%}
{%- for name, column in config.get(option, {}).items() -%}
    {%- set relation = attest.relation_named(name, relations) -%}
    {%- if not relation -%}
        {{ exceptions.raise_compiler_error(model.name ~ ': ' ~ option ~ ' names ' ~ name ~ ', which is ' ~ lacking) }}
    {%- endif -%}
    {%- do named.update({relation: column}) -%}
{%- endfor -%}
{{ return(named) }}
{%- endmacro %}
