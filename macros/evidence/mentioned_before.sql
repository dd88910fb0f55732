{#
    Each mention under a row's earlier keys, since when it was known, and when an earlier life of the key ended it.
#}
{% macro mentioned_before(told, origins) -%}

select
    origins.assertion_id,
    origins.steps_back,
    told.place,
    told.position,
    greatest(origins.known_from, told.known_from) as known_from,
    least(origins.outdated_from, {{ attest.ended_from('told', 'origins.until_place') | indent(4) }}) as outdated_from,
    mention.key as attribute,
    mention.value

from {{ origins }} as origins
inner join {{ told }} as told
    on origins.bk = told.bk
    and origins.source_system <=> told.source_system
    and origins.clock = told.clock
    and origins.until_place > told.place
lateral view explode(map_entries(told.mentions)) as mention

{%- endmacro %}
