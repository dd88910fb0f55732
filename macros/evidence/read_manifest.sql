{#
    A landing's manifest, as landing writes it.
#}
{% macro read_manifest(record) -%}
from_json({{ record }}, '
    records bigint, quarantined map<string, bigint>, verdict string, reasons array<string>,
    newest_source_time timestamp, measures map<string, double>,
    snapshot struct<complete: boolean, expected: bigint, scopes: array<string>>,
    capture struct<
        status: string, why: string, prior: string, scope: string, vendor: string, dataset: string, data_type: string,
        capture_mode: string, complete: boolean, record_count: bigint, expected_record_count: bigint,
        captured_at: timestamp, effective_at: timestamp, content_sum: string, file_sum: string, path: string
    >,
    schemas map<string, struct<records: bigint, since: timestamp, columns: map<string, string>>>,
    defaulted map<string, bigint>
')
{%- endmacro %}
