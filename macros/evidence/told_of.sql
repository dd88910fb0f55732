{#
    In order, each assertion about some keys, its place in the log, and every row that came to its key when.

    The keys are few beside the evidence, and mostly none: sent to it, they leave it where it is.
#}
{% macro told_of(keys, evidence, attributes) -%}

select
    *,
    collect_list(if(moved_from is null, null, struct(place, known_from))) over of_key as comings

from (
    select
        *,
        struct(
            effective_ts,
            -coalesce(precedence_rank, 0) as rank,
            source_event_finer,
            source_sequence is null as is_without,
            source_sequence
        ) as place

    from (
        {{ attest.ordered('(select /*+ broadcast(' ~ keys ~ ') */ * from ' ~ evidence ~ ' left semi join ' ~ keys ~ ' using (bk))', attributes) | indent(8) }}
    ) as in_order
) as placed
window of_key as (partition by bk, clock, source_system)

{%- endmacro %}


{# When it became known that another row had come to the key since a word of it, and before a place. #}
{% macro ended_from(word, until_place) -%}
array_min(transform(
    filter({{ word }}.comings, coming -> coming.place > {{ word }}.place and coming.place < {{ until_place }}),
    coming -> coming.known_from
))
{%- endmacro %}
