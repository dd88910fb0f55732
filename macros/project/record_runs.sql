{#
    The ledger of runs: after each build, one row for each table, view and seed that it came to.

    The one table that a build without news writes to: one commit a build.
#}
{% macro record_runs(results) -%}

{%- set built = results | selectattr('node.resource_type', 'in', ['model', 'seed']) | list -%}
{%- if execute and flags.WHICH in ('build', 'run', 'seed') and built -%}

{%- set passed = results | selectattr('node.resource_type', 'equalto', 'test') | selectattr('status', 'equalto', 'pass') -%}
{%- do run_query('create table if not exists ' ~ attest.runs_table() ~ ' (' ~ attest.runs_columns() ~ ') using delta') -%}
{%- do attest.add_what_runs_lack() -%}
{%- do adapter.remember_passed(passed | map(attribute='node.unique_id') | list, attest.runs_table()) -%}
insert into {{ attest.runs_table() }} values
    {%- for result in built %}
    (
        {{ attest.quoted(invocation_id) }},
        {{ attest.quoted(flags.WHICH) }},
        {{ attest.instant_or_null(run_started_at) }},
        current_timestamp(),
        {{ attest.quoted(result.node.name) }},
        {{ attest.quoted(result.node.config.materialized) }},
        {{ attest.quoted(result.status) }},
        {{ result.execution_time }},
        {{ result.adapter_response.get('rows_affected') or 0 }},
        {{ attest.quoted((result.message or '')[:500]) }},
        {{ attest.quoted(result.adapter_response.get('primitive', '')) }},
        {{ attest.number_or_null(result.adapter_response.get('keys')) }},
        {{ result.adapter_response.get('rows_removed') or 0 }},
        {{ result.adapter_response.get('bytes') or 0 }},
        {{ attest.number_or_null(result.adapter_response.get('version_before')) }},
        {{ attest.number_or_null(result.adapter_response.get('version_after')) }},
        {{ result.adapter_response.get('retries') or 0 }},
        {{ attest.counts_or_null(result.adapter_response.get('counts')) }},
        {{ attest.texts_or_null(result.adapter_response.get('warnings')) }}
    ){{ ',' if not loop.last }}
    {%- endfor %}
{%- endif -%}

{%- endmacro %}


{% macro runs_table() -%}
{{ target.schema }}.runs
{%- endmacro %}


{% macro runs_columns() -%}
invocation_id string, command string, started_at timestamp, recorded_at timestamp,
node string, materialized string, status string, seconds double, rows bigint, message string,
primitive string, keys bigint, rows_removed bigint, bytes bigint, version_before bigint, version_after bigint, retries bigint,
counts map<string,bigint>, warnings array<string>
{%- endmacro %}


{# A ledger from before gets the columns that are new since, null in the rows it has. #}
{% macro add_what_runs_lack() -%}
{%- set held = adapter.get_columns_in_relation(api.Relation.create(schema=target.schema, identifier='runs')) | map(attribute='name') | list -%}
{%- set lacking = [] -%}
{%- for column in attest.runs_columns().replace('\n', ' ').split(', ') if column.strip().split(' ')[0] not in held -%}
    {%- do lacking.append(column.strip()) -%}
{%- endfor -%}
{%- if lacking -%}
    {%- do run_query('alter table ' ~ attest.runs_table() ~ ' add columns (' ~ lacking | join(', ') ~ ')') -%}
{%- endif -%}
{%- endmacro %}


{% macro number_or_null(number) -%}
{{ 'null' if number is none else number }}
{%- endmacro %}


{% macro counts_or_null(counts) -%}
{%- if not counts -%}
null
{%- else -%}
map(
    {%- for name, count in counts.items() -%}
    {{ attest.quoted(name) }}, {{ count }}{{ ', ' if not loop.last }}
    {%- endfor -%}
)
{%- endif -%}
{%- endmacro %}


{% macro texts_or_null(texts) -%}
{%- if not texts -%}
null
{%- else -%}
array({% for text in texts %}{{ attest.quoted(text) }}{{ ', ' if not loop.last }}{% endfor %})
{%- endif -%}
{%- endmacro %}
