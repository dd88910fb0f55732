{#
    The pipeline of all strategies: a slice as rows of its table, each with its key and its hash.

    `columns` are those of steps 1 and 2, with their types; step 12, computing the rows once, is the
    writer's. A step that has nothing to do is left out.
#}
{% macro processed(slice, columns, steps) -%}

{%- set tracked = {} -%}
{%- set spelled = {} -%}
{%- for column, type in columns.items() -%}
    {%- if column not in steps.untracked -%}
        {%- do tracked.update({column: type}) -%}
    {%- endif -%}
    {%- set renamed = steps.rename.get(column, column) -%}
    {%- if attest.normal_name(renamed) != renamed -%}
        {%- do spelled.update({renamed: attest.normal_name(renamed)}) -%}
    {%- endif -%}
{%- endfor -%}
{%- set so_far = namespace(rows='hashed') -%}

with calculated as (

    {{ attest.calculated(slice, steps) | indent(4) }}

),

hashed as (

    {{ attest.hash_source('calculated', tracked) | indent(4) }}

),

{%- if steps.strategy == 'historic' %}

dated as (

    {{ attest.date_versions(so_far.rows) | indent(4) }}

),
{%- set so_far.rows = 'dated' %}
{%- endif %}
{%- if steps.file_name %}

filed as (

    {{ attest.name_file(so_far.rows, steps.file_name) | indent(4) }}

),
{%- set so_far.rows = 'filed' %}
{%- endif %}

keyed as (

    {{ attest.key_rows(so_far.rows, steps.business_key, columns) | indent(4) }}

),
{%- set so_far.rows = 'keyed' %}
{%- if steps.cast %}

typed as (

    {{ attest.cast_columns(so_far.rows, steps.cast) | indent(4) }}

),
{%- set so_far.rows = 'typed' %}
{%- endif %}
{%- if steps.rename %}

renamed as (

    {{ attest.rename_columns(so_far.rows, steps.rename) | indent(4) }}

),
{%- set so_far.rows = 'renamed' %}
{%- endif %}

flagged as (

    {{ attest.flag_deleted(so_far.rows, steps.deleted_when) | indent(4) }}

),

seen as (

    {{ attest.see_rows('flagged') | indent(4) }}

)

{{ attest.rename_columns('seen', spelled) if spelled else 'select * from seen' }}

{%- endmacro %}


{# Steps 1 and 2: the slice with its injected and calculated columns. #}
{% macro calculated(slice, steps) -%}

with slice as (

    {{ slice | indent(4) }}

)
{%- if steps.inject %},

injected as (

    {{ attest.inject('slice', steps.inject) | indent(4) }}

)
{%- endif %}
{%- set rows = 'injected' if steps.inject else 'slice' %}

{{ attest.calculate(rows, steps.calculate) if steps.calculate else 'select * from ' ~ rows }}

{%- endmacro %}
