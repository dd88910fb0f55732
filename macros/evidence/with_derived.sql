{#
    An entity's evidence together with what was derived from it: the deletes that its snapshots
    prove, what its rows carried over when their keys changed.
#}
{% macro with_derived(evidence, derived) -%}
(
    select
        {{ attest.evidence_columns() | indent(8) }}

    from {{ evidence }}
    {%- for assertions in derived %}

    union all

    select
        {{ attest.evidence_columns() | indent(8) }}

    from {{ assertions }}
    {%- endfor %}
)
{%- endmacro %}
