{#
    Put every question to every source that spoke of the entity: its latest claims as of then.

    Questions and assertions are laid on one line of time per source, and each question
    takes the last claim before it: one shuffle, no range join, whatever the skew. A
    question at the very instant of an assertion comes after it (law S1: at or before).
#}
{% macro ask_each_source(heard, asked, attributes) -%}

select * except (is_question, position)

from (
    select
        bk,
        known_at,
        source_system,
        as_at,
        is_question,
        position,
        {%- for attribute in attributes %}
        last_value({{ attribute }}, true) over so_far as {{ attribute }}{{ ',' if not loop.last }}
        {%- endfor %}

    from (
        select
            bk,
            known_at,
            source_system,
            source_event_ts as as_at,
            false as is_question,
            position,
            {%- for attribute in attributes %}
            {{ attribute }}{{ ',' if not loop.last }}
            {%- endfor %}

        from {{ heard }}

        union all

        select
            asked.bk,
            asked.known_at,
            spoke.source_system,
            asked.as_at,
            true as is_question,
            null as position,
            {%- for attribute in attributes %}
            null as {{ attribute }}{{ ',' if not loop.last }}
            {%- endfor %}

        from (
            select distinct
                bk,
                as_at,
                known_at

            from {{ asked }}
        ) as asked
        inner join (
            select distinct
                bk,
                known_at,
                source_system

            from {{ heard }}
        ) as spoke
            on asked.bk = spoke.bk and asked.known_at <=> spoke.known_at
    ) as moments
    window so_far as (
        partition by bk, known_at, source_system order by as_at, is_question, position
        rows between unbounded preceding and current row
    )
) as answered
-- Every assertion speaks of is_deleted: a source without it had not spoken by then.
where is_question and is_deleted is not null

{%- endmacro %}
