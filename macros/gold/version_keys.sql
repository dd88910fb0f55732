{#
    The keys that facts snapshot, and nothing else of them: what a restatement may change.
#}
{% macro version_keys(facts, called) -%}
(
    select
        bk,
        event_hash,
        {%- for one in called %}
        {{ one }}_version_sk{{ ',' if not loop.last }}
        {%- endfor %}

    from {{ facts }}
)
{%- endmacro %}
