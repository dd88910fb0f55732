-- The rulings on snapshots that cannot stand, each with what is wrong and what to do.

with rulings as (

    select
        *,
        count(*) over (partition by snapshot, ruling) as times

    from {{ ref('snapshot_rulings') }}

)

select *

from (
    select
        snapshot,
        ruling,
        case
            when snapshot is null or known_from is null or reason is null
                then 'snapshot, known_from or reason is empty. Say which, since when and why.'
            when ruling is null or ruling not in ('release', 'withdraw')
                then 'The ruling is neither release nor withdraw.'
            when times > 1
                then 'Is ruled more than once. Keep one row.'
            when requested_by is null or approved_by is null or requested_by = approved_by
                then 'Nobody approved it, or who asked for it did. Another person has to.'
        end as problem

    from rulings
)
where problem is not null
