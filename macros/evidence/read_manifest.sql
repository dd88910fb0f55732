{#
    A landing's manifest, as landing writes it.
#}
{% macro read_manifest(record) -%}
from_json({{ record }}, '
    records bigint, quarantined map<string, bigint>, verdict string, reasons array<string>,
    newest_source_time timestamp, measures map<string, double>,
    snapshot struct<complete: boolean, expected: bigint, scopes: array<string>>
')
{%- endmacro %}
