{#
    The last mention of each attribute before a change of key, at each time that more of it was known.

    An assertion cannot be taken back: what turns out to be an earlier life's was never the row's,
    and is in none of them.
#}
{% macro carried_over(origins, mentioned) -%}

select
    assertion_id,
    known_from,
    map_from_entries(collect_list(struct(attribute, value))) as mentions

from (
    select
        times.assertion_id,
        times.known_from,
        times.last_known_from,
        word.attribute,
        max_by(word.value, struct(-word.steps_back as nearer, word.place, word.position)) as value,
        max(times.known_from) over (partition by times.assertion_id, word.attribute) as kept_until

    from (
        select
            assertion_id,
            known_from,
            max(known_from) over (partition by assertion_id) as last_known_from

        from (
            select
                assertion_id,
                known_from

            from {{ origins }}

            union

            select
                assertion_id,
                known_from

            from {{ mentioned }}
        ) as news_of_it
    ) as times
    inner join {{ mentioned }} as word
        on times.assertion_id = word.assertion_id
        and times.known_from >= word.known_from
        and coalesce(times.known_from < word.outdated_from, true)
    group by times.assertion_id, times.known_from, times.last_known_from, word.attribute
) as latest
where kept_until = last_known_from
group by assertion_id, known_from

{%- endmacro %}
