{#
    True when the model's table is there and is to be kept; dbt's own knows one materialization only.
#}
{% macro is_incremental() -%}

{%- if not execute or model.config.materialized not in ('replace_by_key', 'append_only', 'incremental') -%}
    {{ return(false) }}
{%- endif -%}
{%- set existing = load_cached_relation(this) -%}
{{ return(existing is not none and existing.type == 'table' and not should_full_refresh()) }}

{%- endmacro %}
