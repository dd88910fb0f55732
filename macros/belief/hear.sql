{#
    What each assertion claims, attribute by attribute, for each state of knowledge asked about.

    Law S1: only an explicit mention is a claim; every assertion speaks of is_deleted.
    Without `known_at` everything that arrived is known. `before` is the same source's
    claim before this one, which is what would stand if this one were withdrawn.
#}
{% macro hear(assertions, asked, attributes) -%}

select
    bk,
    known_at,
    source_system,
    source_event_ts,
    position,
    {%- for attribute in attributes %}
    if({{ attribute }} is null, null, struct(
        {{ attribute }} as claim,
        last_value({{ attribute }}, true) over earlier as before
    )) as {{ attribute }}{{ ',' if not loop.last }}
    {%- endfor %}

from (
    select
        known.known_at,
        said.*,
        {%- for attribute in attributes %}
        if(
            map_contains_key(said.mentions, '{{ attribute }}'),
            struct(
                said.mentions['{{ attribute }}'] as value,
                said.source_system,
                said.assertion_id,
                said.source_event_ts,
                said.position
            ),
            null
        ) as {{ attribute }}{{ ',' if not loop.last }}
        {%- endfor %}

    from (
        select distinct
            bk,
            known_at

        from {{ asked }}
    ) as known
    inner join {{ assertions }} as said
        on known.bk = said.bk
        and (known.known_at is null or known.known_at >= said.known_from)
) as claimed
window earlier as (
    partition by bk, known_at, source_system order by position
    rows between unbounded preceding and 1 preceding
)

{%- endmacro %}
