{#
    One row an arrival: every feed's assertions of an entity, each with its identity.

    Law E1: an assertion is what one source said of one entity at one source time; its
    id covers the key, the source, the time, the sequence and the canonical payload,
    and nothing of how it arrived, so that a repeat is known as one. Law B6: what the gate
    limited takes effect when it arrived, so there its arrival is that time.
#}
{% macro evidence(feeds, attributes) -%}

with feeds as (

    {%- for feed in feeds %}

    select
        {{ attest.assertion_columns() | indent(8) }}

    from {{ feed }}
    {%- if not loop.last %}

    union all
    {%- endif %}
    {%- endfor %}

),

keyed as (

    select
        * except (bk, mentions),
        trim(both ' ' from bk) as bk,
        if(clock = 'arrival', ingest_ts, source_event_ts) as effective_ts,
        greatest(ingest_ts, released_at) as known_from,
        false as is_inferred,
        {{ attest.declared('mentions', attributes) | indent(8) }} as mentions,
        {{ attest.payload(attributes) | indent(8) }} as payload

    from feeds

),

identified as (

    select
        *,
        sha2(concat(
            {{ attest.encode('bk') }},
            {{ attest.encode('source_system') }},
            {{ attest.encode('cast(unix_micros(effective_ts) as string)') }},
            {{ attest.encode('cast(source_event_finer as string)') }},
            {{ attest.encode("array_join(source_sequence, '/')") }},
            payload
        ), 256) as assertion_id

    from keyed

)

select
    {{ attest.evidence_columns() | indent(4) }}

from identified

{%- endmacro %}


{# Mentions as they are, if the entity declares all that they speak of: an id would not cover another. #}
{% macro declared(mentions, attributes) -%}
if(
    size({{ mentions }}) = {% for attribute in attributes -%}
    cast(map_contains_key({{ mentions }}, '{{ attribute }}') as int){{ ' + ' if not loop.last }}
    {%- endfor %},
    {{ mentions }},
    raise_error(concat(
        'A mapping mentions ', array_join(array_except(map_keys({{ mentions }}), array('{{ attributes | join("', '") }}')), ', '),
        ', which the entity does not declare. Declare it under vars: entities: in dbt_project.yml, and leave it '
        'there when no source sends it any more: history still has it. Nothing was written.'
    ))
)
{%- endmacro %}
