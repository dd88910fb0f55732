{#
    The total order of an entity's assertions, as the text of an `order by`.

    Law E4, step by step. Nothing else in the project orders assertions: later steps
    order by `position`, which this gives. Payload bytes settle what all else ties.
#}
{% macro in_source_time(attributes) -%}
effective_ts asc,
coalesce(precedence_rank, 0) desc,
source_event_finer asc,
source_sequence asc nulls last,
source_file asc nulls last,
ingest_run_id asc nulls last,
ingest_ts asc,
source_system asc nulls last,
is_deleted asc,
{{ attest.payload(attributes) }} asc
{%- endmacro %}
