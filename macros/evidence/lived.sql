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

{%- set derived = [] -%}

with worlds as (

    select *

    from {{ attest.once(attest.worlds(evidence, marks, snapshots, carries_keys)) | indent(4) }}

),

told_in_worlds as (

    {{ attest.told_in_worlds(evidence, marks, 'worlds') | indent(4) }}

),
{%- if snapshots is not none %}
{%- do derived.append('absences_in_worlds') %}

snapshots_in_worlds as (

    {{ attest.snapshots_in_worlds(snapshots, marks, 'worlds') | indent(4) }}

),

absences_in_worlds as (

    {{ attest.absences_in_worlds('told_in_worlds', 'snapshots_in_worlds', rulings, attributes) | indent(4) }}

),
{%- endif %}
{%- if carries_keys %}
{%- do derived.append('key_changes_in_worlds') %}

key_changes_in_worlds as (

    {{ attest.key_changes('told_in_worlds', attributes) | indent(4) }}

),
{%- endif %}

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


{# What is told of them in each world: keys and feeds bear its name, and what was marked then is left out. #}
{% macro told_in_worlds(evidence, marks, worlds) -%}
select
    * except (bk, feed, moved_from, world, begins),
    concat(world, bk) as bk,
    concat(world, feed) as feed,
    concat(world, moved_from) as moved_from

from (
    select
        said.*,
        world_of.world,
        world_of.begins

    from {{ evidence }} as said
    inner join {{ worlds }} as world_of
        on said.bk = world_of.bk
) as log
left anti join {{ marks }} as mark
    on {{ attest.stood('mark', 'log.begins') }}
    and {{ attest.covers('mark', 'log') | indent(4) }}
{%- endmacro %}


{% macro snapshots_in_worlds(snapshots, marks, worlds) -%}
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

        from {{ worlds }}
    ) as world_of
) as snapshot
left anti join {{ marks }} as mark
    on {{ attest.stood('mark', 'snapshot.begins') }}
    and {{ attest.covers_snapshot('mark', 'snapshot') | indent(4) }}
{%- endmacro %}


{% macro absences_in_worlds(told, snapshots, rulings, attributes) -%}
select
    * except (assertion_id),
    {{ attest.absence_id(bk=attest.without_world('bk'), feed=attest.without_world('feed')) | indent(4) }} as assertion_id

from (
    {{ attest.absences(told, snapshots, rulings, attributes) | indent(4) }}
) as inferred
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
