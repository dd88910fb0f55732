{#
    Ask a data test's question, unless it passed before on exactly the data that is there now.

    Only `dbt build` spares itself the question; `dbt test` and --full-refresh always ask.
    What was read is told by exact table versions and view texts (decision 0007).
#}
{% macro spark__get_test_sql(main_sql, fail_calc, warn_if, error_if, limit) -%}

{%- set lineage = attest.lineage_of(model) -%}
{%- set is_spared = flags.WHICH == 'build' and not flags.FULL_REFRESH and not should_store_failures()
    and adapter.has_passed(
        model.unique_id,
        (main_sql ~ fail_calc ~ warn_if ~ error_if) | replace(run_started_at | string, ''),
        lineage.logs + lineage.inputs + lineage.references + lineage.views + lineage.others,
        attest.runs_table()
    ) -%}
{%- if is_spared -%}
-- Passed before on these very table versions, so it is not asked again.
select 0 as failures, false as should_warn, false as should_error
{%- else -%}
{{ dbt.default__get_test_sql(main_sql, fail_calc, warn_if, error_if, limit) }}
{%- endif -%}

{%- endmacro %}
