{#
    Each record of a snapshot beside the last one that listed its entity: is it listed anew, is anything else said?

    It is listed anew if there is none, or if a snapshot between them proves that it was not there.
    `told` are the attributes that are compared, in one order; others change nothing (section 9.3).
#}
{% macro see_again(listed, placed, attributes) -%}

select
    *,
    prior_landing_id is null or proven - cast(proves as int) > proven_then as is_listed_anew,
    prior_landing_id is null or proven - cast(proves as int) > proven_then or not told <=> told_then as is_step

from (
    select
        *,
        lag(landing_id) over of_entity as prior_landing_id,
        lag(proven) over of_entity as proven_then,
        lag(told) over of_entity as told_then,
        lead(place) over of_entity as next_place

    from (
        select
            listed.*,
            placed.covered,
            placed.place,
            placed.proven,
            placed.proves,
            array_sort(map_entries(
                map_filter(listed.mentions, (attribute, value) -> attribute in ('{{ attributes | join("', '") }}'))
            )) as told

        from {{ listed }} as listed
        inner join {{ placed }} as placed
            on listed.landing_id = placed.landing_id
            and (placed.covered is null or listed.scope = placed.covered)
    ) as in_place
    window of_entity as (partition by feed, covered, bk order by place, source_record)
) as beside

{%- endmacro %}
