{#
    What was known of the old key, as assertions of the new one: one row a change of key and what was known of it when.

        old key   … said ── said ─┐ deleted
        new key                   └► carried over ── said …

    Law B1, and law E3: a connector leaves out what did not change, and what did not change was
    last said of the old key. It stands right before the word that brought the row to its new
    key. Whatever arrives late gives another assertion, known from then (law S6).
#}
{% macro key_changes(evidence, attributes) -%}

with recursive moving as (

    select explode(array(bk, moved_from)) as bk

    from {{ evidence }}
    where moved_from is not null

),

told as (

    {{ attest.told_of('moving', evidence, attributes) | indent(4) }}

),

origins as (

    {{ attest.keys_before('told') | indent(4) }}

),

mentioned as (

    {{ attest.mentioned_before('told', 'origins') | indent(4) }}

),

carried as (

    {{ attest.carried_over('origins', 'mentioned') | indent(4) }}

)

select
    {{ attest.evidence_columns() | indent(4) }}

from (
    select
        told.* except (
            assertion_id, mentions, unchanged, is_deleted, is_inferred, known_from, ingest_ts,
            source_sequence, source_record, remark, moved_from
        ),
        sha2(concat(
            'key change',
            {{ attest.encode('told.assertion_id') }},
            {{ attest.encode('cast(unix_micros(carried.known_from) as string)') }}
        ), 256) as assertion_id,
        carried.mentions,
        array_except(array(''), array('')) as unchanged,
        false as is_deleted,
        true as is_inferred,
        carried.known_from,
        carried.known_from as ingest_ts,
        -- Shorter than the sequence of the word that it goes before, and so ahead of it.
        coalesce(
            slice(told.source_sequence, 1, size(told.source_sequence) - 1),
            filter(array(cast(0 as decimal(38, 10))), part -> false)
        ) as source_sequence,
        cast(0 as bigint) as source_record,
        concat('Carried over when the key changed from ', told.moved_from) as remark,
        cast(null as string) as moved_from

    from carried
    inner join told on carried.assertion_id = told.assertion_id
) as derived

{%- endmacro %}
