{#
    What a journal tells, played back entry by entry: one row a row that it was ever told of.

    `held` is null where it was taken back. `until` is the last run that counts, by the instant
    it was recorded; none, and all of them do.
#}
{% macro replayed(journal, row_key, until=none) -%}

select
    bk,
    {{ row_key }},
    max(entry) as entry,
    if(
        max_by(change_type, entry) = 'RETRACT',
        null,
        aggregate(
            array_sort(collect_list(struct(entry, change_type, new_values)), (one, other) -> one.entry - other.entry),
            from_json('{}', 'map<string, string>'),
            (told, next) -> if(
                next.change_type = 'RETRACT',
                from_json('{}', 'map<string, string>'),
                map_concat(
                    map_filter(told, (name, value) -> not map_contains_key(next.new_values, name)),
                    next.new_values
                )
            )
        )
    ) as held

from {{ journal }}
{%- if until is not none %}
where recorded_at <= {{ attest.instant_or_null(until) }}
{%- endif %}
group by bk, {{ row_key }}

{%- endmacro %}
