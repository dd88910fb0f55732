-- The rows of seeds/authorities.csv that cannot stand, each with what is wrong and what to do.

with authorities as (

    select
        *,
        count(*) over (partition by dataset, coalesce(scope, '')) as times

    from {{ ref('authorities') }}

)

select
    dataset,
    scope,
    vendor,
    explode(array_compact(array(
        case
            when dataset is null or vendor is null
                then 'dataset or vendor is empty. Name both, as the manifests do.'
            when times > 1
                then 'Has two authorities, who would overwrite each other. Keep one row.'
        end,
        case
            when capture_mode is null or capture_mode not in ('full_snapshot', 'incremental_append')
                then 'The mode is none. Write full_snapshot or incremental_append.'
        end,
        case
            when requested_by is null or approved_by is null or reason is null
                then 'requested_by, approved_by or reason is empty. Say who asked, who approved, and why.'
            when requested_by = approved_by
                then 'Was approved by who asked for it. Have someone else approve it.'
        end
    ))) as problem

from authorities
