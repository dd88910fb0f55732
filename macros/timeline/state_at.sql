{#
    The whole state of every entity at an instant, as known at an instant, from its assertions.

    Law B2 at one point: of the last assertion that had happened and arrived by then, each
    attribute is what it mentions, else its source's last word, else anyone's, else unknown.
    Under as_known only what had arrived when it did counts, save what it left unchanged.
#}
{% macro state_at(assertions, as_at, known_at, attributes, clock='source') -%}

with known as (

    select *

    from {{ assertions }}
    where clock = '{{ clock }}'
        and effective_ts <= {{ attest.instant_or_null(as_at) }}
        and if(
            {{ attest.instant_or_null(known_at) }} is null,
            known_until is null,
            {{ attest.is_within(attest.instant_or_null(known_at), 'known_from', 'known_until') }}
        )

),

latest as (

    select
        bk,
        max_by(struct(source_system, ingest_ts, inheritance, unchanged, is_deleted), position) as last

    from known
    group by bk

),

recalled as (

    select
        known.bk,
        known.position,
        known.mentions,
        latest.last,
        known.source_system <=> latest.last.source_system as is_own,
        latest.last.inheritance = 'repaired' or known.ingest_ts <= latest.last.ingest_ts as is_in_time

    from known
    inner join latest on known.bk = latest.bk

),

states as (

    select
        bk,
        first(last.is_deleted) as is_deleted,
        {%- for attribute in attributes %}
        max_by(
            mentions['{{ attribute }}'],
            {{ attest.claim_on_memory(attribute) | indent(12) }}
        ) as {{ attribute }}{{ ',' if not loop.last }}
        {%- endfor %}

    from recalled
    group by bk

)

select
    bk,
    {%- for attribute, type in attributes.items() %}
    {{ attest.typed(attribute, type) }} as {{ attribute }},
    {%- endfor %}
    is_deleted

from states

{%- endmacro %}


{# How strongly an assertion's mention is remembered: own words first, then the latest; null: not at all. #}
{% macro claim_on_memory(attribute) -%}
case
    when not map_contains_key(mentions, '{{ attribute }}') then null
    when array_contains(last.unchanged, '{{ attribute }}') then if(is_own, struct(is_own, position), null)
    when is_in_time then struct(is_own, position)
end
{%- endmacro %}
