{#
    End each version where the next one starts.

        |--- v1 ---[--- v2 ---[--- v3 … open

    Law B4: windows are half-open; versions that tie on an instant keep a zero-length one
    as evidence; the last is open, and so the only current one.
#}
{% macro close_versions(versions) -%}

select
    *,
    source_event_ts as effective_from,
    lead(source_event_ts) over in_order as effective_to,
    lead(source_event_ts) over in_order is null as is_current

from {{ versions }}
window in_order as (partition by bk order by version)

{%- endmacro %}
