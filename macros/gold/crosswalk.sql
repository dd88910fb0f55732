{#
    Which version key became which: for each key and window that it once held, the key that holds it now, or none.

        then    [---- K ---------[        K's window as it was at its longest
        now     [- K -[-- L --[           K -> L here, and K -> none in the gap

    Law C2: K's start is part of the key, so all windows that it ever had begin there.
#}
{% macro crosswalk(journal, dimension) -%}

with held as (

    select
        bk,
        version_sk,
        max(cast(new_values['effective_from'] as timestamp)) as effective_from,
        max(if(
            change_type = 'INSERT' or array_contains(changed_columns, 'effective_to'),
            coalesce(cast(new_values['effective_to'] as timestamp), {{ attest.forever() }}),
            null
        )) as effective_to,
        max_by(run, recorded_at) as run,
        max(recorded_at) as recorded_at

    from {{ journal }}
    group by bk, version_sk

),

versions as (

    select
        bk,
        version_sk,
        effective_from,
        coalesce(effective_to, {{ attest.forever() }}) as effective_to

    from {{ dimension }}

),

moved as (

    select held.*

    from held
    left join versions
        on held.version_sk = versions.version_sk
    where not held.effective_to <=> versions.effective_to

),

-- All time of each entity, its gaps included.
covered as (

    select
        moments.bk,
        moments.version_sk,
        moments.effective_from,
        moments.effective_to

    from (
        select
            bk,
            version_sk,
            at as effective_from,
            coalesce(lead(at) over in_time, {{ attest.forever() }}) as effective_to

        from (
            select bk, version_sk, effective_from as at, 1 as place from versions
            union all
            select bk, null as version_sk, effective_to as at, 0 as place from versions
            union all
            select distinct bk, null as version_sk, timestamp '0001-01-01' as at, 0 as place from moved
        )
        window in_time as (partition by bk order by at, place)
    ) as moments
    left semi join moved
        on moments.bk = moved.bk
    where moments.effective_from < moments.effective_to

)

select
    moved.bk,
    moved.version_sk as old_version_sk,
    covered.version_sk as new_version_sk,
    greatest(moved.effective_from, covered.effective_from) as effective_from,
    least(moved.effective_to, covered.effective_to) as effective_to,
    moved.run,
    moved.recorded_at

from moved
inner join covered
    on moved.bk = covered.bk
        and moved.effective_from < covered.effective_to
        and moved.effective_to > covered.effective_from
where not moved.version_sk <=> covered.version_sk

{%- endmacro %}
