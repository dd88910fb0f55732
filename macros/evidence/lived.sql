{#
    Each assertion about the entities that marks ever concerned, once a period of knowledge in which it counted.

        evidence     x ───────────────────────────────────────►
        its mark              [ marked ───── cleared )
        known        [────────)              [──────────────── …

    Law S6: a mark and its clearing are knowledge, so no answer from before them changes. Between
    two of them an entity lives in a world of its own, whose evidence leaves out what was marked
    then; what is derived of it, and its order, follow by the very macros that the states are
    made with.
#}
{% macro lived(evidence, marks, attributes, snapshots=none, rulings=none, carries_keys=false) -%}

with concerned as (

    select
        log.bk,
        mark.marked_at,
        mark.cleared_at

    from {{ evidence }} as log
    inner join {{ marks }} as mark
        on {{ attest.covers('mark', 'log') | indent(8) }}
    {%- if snapshots is not none %}

    union

    -- Whom a marked snapshot lacks is not in it.
    select
        log.bk,
        mark.marked_at,
        mark.cleared_at

    from {{ evidence }} as log
    inner join {{ marks }} as mark
        on log.feed = mark.feed
    where log.feed in (select judged.feed from {{ snapshots }} as judged)
    {%- endif %}

),

turns as (

    select
        bk,
        explode(array_compact(array({{ attest.the_beginning() }}, marked_at, cleared_at))) as at

    from concerned

),

worlds as (

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
            turns.at

        from (
            select distinct explode(array(bk, moved_from)) as bk

            from {{ evidence }}
            where moved_from is not null
        ) as row_of
        cross join turns
        {%- endif %}
    ) as told

),

told_in_worlds as (

    select
        * except (bk, feed, moved_from, world, begins),
        concat(world, bk) as bk,
        concat(world, feed) as feed,
        concat(world, moved_from) as moved_from

    from (
        select
            said.*,
            worlds.world,
            worlds.begins

        from {{ evidence }} as said
        inner join worlds
            on said.bk = worlds.bk
    ) as log
    left anti join {{ marks }} as mark
        on {{ attest.stood('mark', 'log.begins') }}
        and {{ attest.covers('mark', 'log') | indent(8) }}

),
{%- if snapshots is not none %}

snapshots_in_worlds as (

    select
        * except (feed, world, begins),
        concat(world, feed) as feed

    from (
        select
            judged.*,
            world_of.world,
            world_of.begins

        from {{ snapshots }} as judged
        cross join (
            select distinct
                world,
                begins

            from worlds
        ) as world_of
    ) as snapshot
    left anti join {{ marks }} as mark
        on {{ attest.stood('mark', 'snapshot.begins') }}
        and {{ attest.covers_snapshot('mark', 'snapshot') | indent(8) }}

),

absences_in_worlds as (

    select
        * except (assertion_id),
        {{ attest.absence_id(bk=attest.without_world('bk'), feed=attest.without_world('feed')) | indent(8) }} as assertion_id

    from (
        {{ attest.absences('told_in_worlds', 'snapshots_in_worlds', rulings, attributes) | indent(8) }}
    ) as inferred

),
{%- endif %}
{%- set derived = [] %}
{%- if snapshots is not none %}{% do derived.append('absences_in_worlds') %}{% endif %}
{%- if carries_keys %}{% do derived.append('(' ~ attest.key_changes('told_in_worlds', attributes) ~ ')') %}{% endif %}

in_order as (

    {{ attest.ordered(attest.with_derived('told_in_worlds', derived), attributes) | indent(4) }}

)

select
    {{ attest.known_columns() | indent(4) }},
    known_until

from (
    select
        in_order.* except (bk, feed, known_from),
        worlds.bk,
        {{ attest.without_world('in_order.feed') }} as feed,
        greatest(in_order.known_from, worlds.begins) as known_from,
        worlds.ends as known_until

    from in_order
    inner join worlds
        on in_order.bk = concat(worlds.world, worlds.bk)
) as lived
where coalesce(known_from < known_until, true)

{%- endmacro %}


{% macro without_world(name) -%}
substring({{ name }}, instr({{ name }}, ' ') + 1)
{%- endmacro %}


{# Whether a mark stood at an instant. #}
{% macro stood(mark, at) -%}
{{ at }} >= {{ mark }}.marked_at
and coalesce({{ at }} < {{ mark }}.cleared_at, true)
{%- endmacro %}


{% macro known_columns() -%}
bk,
clock,
position,
source_system,
ingest_ts,
inheritance,
effective_ts,
is_deleted,
mentions,
unchanged,
{{ attest.carried_columns() }}
{%- endmacro %}
