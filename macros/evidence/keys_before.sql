{#
    The keys that a row had before each change of its key, back to the first, and since when that was known.

    Where several rows came to a key one after the other, the last that is known of ends the others.
#}
{% macro keys_before(told) -%}

select
    assertion_id,
    0 as steps_back,
    moved_from as bk,
    source_system,
    clock,
    place as until_place,
    known_from,
    cast(null as timestamp) as outdated_from

from {{ told }}
where moved_from is not null

union all

select
    origins.assertion_id,
    origins.steps_back + 1 as steps_back,
    before.moved_from as bk,
    origins.source_system,
    origins.clock,
    before.place as until_place,
    greatest(origins.known_from, before.known_from) as known_from,
    least(origins.outdated_from, {{ attest.ended_from('before', 'origins.until_place') | indent(4) }}) as outdated_from

from origins
inner join {{ told }} as before
    on origins.bk = before.bk
    and origins.source_system <=> before.source_system
    and origins.clock = before.clock
    and origins.until_place > before.place
where before.moved_from is not null
    and coalesce(
        least(origins.outdated_from, {{ attest.ended_from('before', 'origins.until_place') | indent(8) }})
        > greatest(origins.known_from, before.known_from),
        true
    )

{%- endmacro %}
