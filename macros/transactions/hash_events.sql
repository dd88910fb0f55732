{#
    Hash what each assertion tells of its event, whoever tells it: the key, when, and the attributes.

    An event is told whole, so an attribute that is absent and one that is null tell the
    same: nothing. Law B6: a time that the gate does not let count does not tell events apart. Like an unknown attribute of a state (law B5), neither is in the hash.
#}
{% macro hash_events(assertions, attributes) -%}

select
    *,
    1 as hash_version,
    sha2(concat(
        {{ attest.encode('bk') }},
        {{ attest.encode("cast(if(clock = 'source', unix_micros(source_event_ts), null) as string)") }},
        {{ attest.encode('cast(source_event_finer as string)') }},
        {{ attest.encode('cast(is_deleted as string)') }},
        {{ attest.encode_map('told', attributes) | indent(8) }}
    ), 256) as attr_hash

from (
    select
        *,
        map_filter(mentions, (attribute, value) -> value is not null) as told

    from {{ assertions }}
    where verdict <> 'REJECT_FOR_AUTHORITATIVE_BRONZE'
) as told_events

{%- endmacro %}
