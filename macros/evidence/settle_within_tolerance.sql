{#
    What each record's version began with: its own values, unless all that differs is within its tolerance.

    Law C5: compared with the value that the version began with, never with the one before it. There
    is something to settle only where something else is said, so the fold is over those steps alone.
#}
{% macro settle_within_tolerance(seen, promises) -%}

select
    * except (settled_as),
    last_value(settled_as, true) over of_entity as began_with

from (
    select
        seen.*,
        coalesce(step.begins, false) as begins,
        step.settled_as

    from {{ seen }} as seen
    left join (
        select
            feed,
            covered,
            bk,
            inline({{ attest.fold_steps('steps', 'tolerances') | indent(12) }}) as (place, source_record, begins, settled_as)

        from (
            select
                changing.feed,
                changing.covered,
                changing.bk,
                array_sort(collect_list(struct(place, source_record, is_listed_anew, told))) as steps,
                any_value(allowed.tolerances) as tolerances

            from {{ seen }} as changing
            left join (
                {{ attest.tolerances(promises) | indent(16) }}
            ) as allowed
                on changing.feed = allowed.feed
            where changing.is_step
            group by changing.feed, changing.covered, changing.bk
        ) as of_entity
    ) as step
        on seen.feed = step.feed
        and seen.covered <=> step.covered
        and seen.bk = step.bk
        and seen.place = step.place
        and seen.source_record = step.source_record
) as stepped
window of_entity as (partition by feed, covered, bk order by place, source_record)

{%- endmacro %}


{# Each step with the values that its version began with, and whether it begins one. #}
{% macro fold_steps(steps, tolerances) -%}
{%- set before = "try_element_at(settled, -1)['settled_as']" -%}
aggregate(
    {{ steps }},
    cast(array() as array<struct<
        place: int, source_record: bigint, begins: boolean, settled_as: array<struct<key: string, value: string>>
    >>),
    (settled, step) -> concat(settled, array(
        if(
            step.is_listed_anew or {{ attest.is_beyond('step.told', before, tolerances) | indent(12) }},
            struct(step.place, step.source_record, true as begins, step.told as settled_as),
            struct(step.place, step.source_record, false as begins, {{ before }} as settled_as)
        )
    ))
)
{%- endmacro %}


{# Whether a word differs from what the version began with by more than is tolerated; a new attribute does. #}
{% macro is_beyond(told, began_with, tolerances) -%}
exists(
    {{ told }},
    word -> not (
        map_contains_key(map_from_entries({{ began_with }}), word.key)
        and (
            map_from_entries({{ began_with }})[word.key] <=> word.value
            or coalesce(
                abs(
                    try_cast(map_from_entries({{ began_with }})[word.key] as decimal(28, 10))
                    - try_cast(word.value as decimal(28, 10))
                ) <= {{ tolerances }}[word.key],
                false
            )
        )
    )
)
{%- endmacro %}


{# By how much each attribute of a feed may differ and be the same, as its contract promises. #}
{% macro tolerances(promises) -%}
select
    feed,
    map_from_entries(collect_list(struct(
        split_part(value, ':', 1),
        cast(split_part(value, ':', 2) as decimal(28, 10))
    ))) as tolerances

from {{ promises }}
where promise = 'tolerance'
group by feed
{%- endmacro %}
