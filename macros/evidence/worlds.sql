{#
    The worlds of the entities that marks ever concerned: between two turns of what was marked, one.

    A world is named by when it begins.
#}
{% macro worlds(evidence, marks, snapshots=none, carries_keys=false) -%}

with concerned as (

    select
        log.bk,
        mark.marked_at,
        mark.cleared_at

    from {{ evidence }} as log
    inner join {{ marks }} as mark
        on log.feed = mark.feed
    where ({{ attest.covers('mark', 'log') | indent(8) }})
    {%- if snapshots is not none %}
        -- Whom a marked snapshot lacks is not in it.
        or log.feed in (select judged.feed from {{ snapshots }} as judged)
    {%- endif %}

),

turns as (

    select
        bk,
        explode(array_compact(array({{ attest.the_beginning() }}, marked_at, cleared_at))) as at

    from concerned

)

select
    bk,
    at as begins,
    lead(at) over (partition by bk order by at) as ends,
    concat(cast(unix_micros(at) as string), ' ') as world

from (
    select distinct
        bk,
        at

    from turns
    {%- if carries_keys %}

    union

    -- What a row carries over from its old key changes with the old key's worlds.
    select
        row_of.bk,
        turn.at

    from (
        select distinct explode(array(bk, moved_from)) as bk

        from {{ evidence }}
        where moved_from is not null
    ) as row_of
    cross join (select distinct turns.at from turns) as turn
    {%- endif %}
) as told

{%- endmacro %}
