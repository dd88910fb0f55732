{#
    An entity's evidence together with the deletes that its snapshots prove.
#}
{% macro with_absences(evidence, absences) -%}
(
    select
        {{ evidence_columns() | indent(8) }}

    from {{ evidence }}

    union all

    select
        {{ evidence_columns() | indent(8) }}

    from {{ absences }}
)
{%- endmacro %}
