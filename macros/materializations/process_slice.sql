{#
    The Python that processes a slice, which is what the model's SQL selects, by the strategy of its name.

    The order holds the whole query; the package checks what it finds and commits it.
#}
{% macro process_slice(slice) -%}

{%- set existing = load_cached_relation(this) -%}
{%- if existing is not none and existing.is_view -%}
    {{ exceptions.raise_compiler_error(this ~ ' is a view. Drop it, then build again.') }}
{%- endif -%}
{%- set steps = {} -%}
{%- set columns = {'sliced': {}, 'calculated': {}, 'told': {}, 'held': {}, 'shape': {}} -%}
{%- do attest.declare_steps(steps) -%}
{%- do attest.describe(slice, columns.sliced) -%}
{%- do attest.refuse_unknown('inject', steps.inject, columns.sliced) -%}
{%- do attest.refuse_known('calculate', steps.calculate, columns.sliced) -%}
{%- do attest.describe(attest.calculated(slice, steps), columns.calculated) -%}
{%- for named in ('business_key', 'untracked', 'cast', 'rename') -%}
    {%- do attest.refuse_unknown(named, steps[named], columns.calculated) -%}
{%- endfor -%}
{%- if 'source_file' in columns.calculated -%}
    {%- do steps.update({'file_name': none, 'untracked': steps.untracked + ['source_file']}) -%}
{%- endif -%}
{%- if existing is not none -%}
    {%- do attest.describe('select * from ' ~ this, columns.held) -%}
{%- endif -%}
{%- do attest.add_told(columns, steps) -%}
{%- do columns.shape.update(columns.held if steps.strategy != 'full' or config.get('partition_by', []) else {}) -%}
{%- for column, type in columns.told.items() if column not in columns.shape -%}
    {%- do columns.shape.update({column: type}) -%}
{%- endfor -%}
{%- set table = attest.declared_table() -%}
{#- Rows that give way are struck out; without, every file that has one of them is written anew. -#}
{%- set properties = {'delta.enableDeletionVectors': 'true'} -%}
{%- do properties.update(table.properties) -%}
{%- do table.update({'properties': properties}) -%}
{%- do attest.refuse_unknown('partition_by', config.get('partition_by', []), columns.shape) -%}
{%- set order = {
    'strategy': steps.strategy,
    'table': table,
    'changes': attest.changes(slice, this.render(), columns, steps),
    'becomes': attest.becomes('attest_changes', columns, steps),
    'columns': columns,
    'processing_time': var('processing_time', run_started_at.isoformat()) | string,
    'now': run_started_at.isoformat(),
    'is_meant': model.name in var('meant', []),
} -%}
from attest.strategies import process

outcome = process(spark, {{ tojson(tojson(order)) }})

{%- endmacro %}


{# What the model's config says of each step. #}
{% macro declare_steps(steps) -%}
{%- set missing = config.get('delete_missing', false) -%}
{%- do steps.update({
    'strategy': config.get('materialized'),
    'business_key': config.require('business_key'),
    'inject': config.get('inject', {}),
    'calculate': config.get('calculate', {}),
    'untracked': config.get('untracked', []),
    'file_name': config.get('file_name', "substring_index(input_file_name(), '/', -1)"),
    'cast': config.get('cast', {}),
    'rename': config.get('rename', {}),
    'deleted_when': config.get('deleted_when', 'false'),
    'window': 'true' if missing is true else missing or 'false',
    'infers': missing is not false,
    'named_by': [],
}) -%}
{%- endmacro %}


{# The columns of a query with their types, in their order. #}
{% macro describe(query, columns) -%}
{%- for row in run_query('describe query ' ~ query).rows -%}
    {%- do columns.update({row[0] | string: row[1] | string}) -%}
{%- endfor -%}
{%- endmacro %}


{# What the steps make of the slice's columns, and the strategy's own. #}
{% macro add_told(columns, steps) -%}
{%- set own = {'primary_key': 'string', 'source_hash': 'string'} -%}
{%- if steps.strategy == 'historic' -%}
    {%- do own.update({'version_sk': 'string', 'effective_from': 'timestamp', 'effective_to': 'timestamp', 'is_current': 'boolean'}) -%}
{%- endif -%}
{%- do own.update({'is_deleted': 'boolean', 'last_seen_ts': 'timestamp', 'source_file': 'string'}) -%}
{%- for column, type in columns.calculated.items() if column != 'source_file' -%}
    {%- set name = attest.normal_name(steps.rename.get(column, column)) | trim -%}
    {%- if not name -%}
        {{ attest.refuse_slice('UnnamedColumnError', 'a column of the slice is called ' ~ column ~ ', which has no letter and no digit. Select it under a name.') }}
    {%- elif name in own or column | lower in own or column.startswith('attest_') -%}
        {{ attest.refuse_slice('ReservedColumnError', 'a column of the slice is called ' ~ name ~ ', which the strategy has for its own. '
            ~ 'Select it under another name.') }}
    {%- elif name in columns.told -%}
        {{ attest.refuse_slice('RepeatedColumnError', 'two columns of the slice would be called ' ~ name ~ '. Rename one.') }}
    {%- endif -%}
    {%- do columns.told.update({name: steps.cast.get(column, type)}) -%}
    {%- if column in steps.business_key -%}
        {%- do steps.named_by.append(name) -%}
    {%- endif -%}
{%- endfor -%}
{%- do columns.told.update(own) -%}
{%- set lacking = own | reject('in', columns.held) | join(', ') -%}
{%- if columns.held and steps.strategy != 'full' and lacking -%}
    {{ attest.refuse_slice('OtherStrategyError', this ~ ' was not written by ' ~ steps.strategy ~ ': it has no ' ~ lacking
        ~ '. Build under another name, or drop the table and know that its history is gone.') }}
{%- endif -%}
{%- endmacro %}


{% macro refuse_unknown(option, names, known) -%}
{%- for name in names if name not in known -%}
    {{ attest.refuse_slice('UnknownColumnError', option ~ ' names ' ~ name ~ ', which the slice does not have. It has: ' ~ known | join(', ')
        ~ '. Correct the name.') }}
{%- endfor -%}
{%- endmacro %}


{% macro refuse_known(option, names, known) -%}
{%- for name in names if name | lower in known | map('lower') -%}
    {{ attest.refuse_slice('RepeatedColumnError', option ~ ' names ' ~ name ~ ', which the slice has already. To give it other values, inject it.') }}
{%- endfor -%}
{%- endmacro %}


{% macro refuse_slice(error, what) -%}
{{ exceptions.raise_compiler_error(error ~ ': ' ~ model.name ~ ': ' ~ what) }}
{%- endmacro %}

