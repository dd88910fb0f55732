{#
    All landing tables as one: every record of every feed, and the manifests of its landings.
#}
{% macro landed(landings) -%}
{%- for landing in landings %}
{%- if not loop.first %}

union all

{% endif -%}
select
    {{ attest.landed_columns() | indent(4) }},
    source_file,
    ingest_run_id,
    status,
    released_from,
    record,
    quarantine_reason,
    quarantine_detail

from {{ landing }}
{%- endfor %}
{%- endmacro %}
