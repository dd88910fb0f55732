{#
    Evidence without what is marked bad now.

    Law C4: what is derived reads this, so a mark takes its partition out of everything and
    clearing it brings the same rows back. Nothing is deleted.
#}
{% macro unmarked(evidence, marks) -%}
(
    select *

    from {{ evidence }} as log
    left anti join {{ marks }} as mark
        on mark.cleared_at is null
        and {{ attest.covers('mark', 'log') | indent(8) }}
)
{%- endmacro %}


{# The same of snapshots: one that is marked proves no absence. #}
{% macro unmarked_snapshots(snapshots, marks) -%}
(
    select *

    from {{ snapshots }} as snapshot
    left anti join {{ marks }} as mark
        on mark.cleared_at is null
        and {{ attest.covers_snapshot('mark', 'snapshot') | indent(8) }}
)
{%- endmacro %}
