-- The rows of seeds/marked_partitions.csv that cannot stand, each with what is wrong and what to do.

with marks as (

    select
        *,
        count(*) over (partition by feed, partition, cleared_at is null) as times,
        lead(marked_at) over (partition by feed, partition order by marked_at) as marked_again_at

    from {{ ref('marked_partitions') }}

),

published as (

    select 'customer_days' as feed, cast(published_on as string) as partition from {{ ref('customer_days') }}

),

landed as (

    select
        feed,
        landing_id as partition

    from {{ ref('landings') }}
    left semi join marks using (feed)

    union

    select
        feed,
        source_path as partition

    from {{ ref('landings') }}
    left semi join marks using (feed)

    union

    select
        feed,
        partition

    from published

)

select
    feed,
    partition,
    problem

from (
    select
        marks.feed,
        marks.partition,
        case
            when marks.feed is null or marks.partition is null or marks.stops_landing is null
                then 'feed, partition or stops_landing is empty. Say what is bad, and whether what the feed lands since is held.'
            when marks.marked_at is null or marks.marked_by is null or marks.reason is null
                then 'marked_at, marked_by or reason is empty. Say since when, who says so and why.'
            when landed.partition is null
                then 'The feed has no such partition. Name a landing_id, the whole path of a file, or a published day; `attest marks` prints them so.'
            when promised.feed is not null and marks.partition like '/%'
                then 'A snapshot is bad as a whole. Name its landing_id.'
            when marks.times > 1 and marks.cleared_at is null or marks.marked_again_at < marks.cleared_at
                then 'Is marked twice at a time. Keep one row.'
            when marks.cleared_at is not null and (marks.cleared_by is null or marks.cleared_because is null)
                then 'cleared_by or cleared_because is empty. Say who cleared it and why.'
            when marks.cleared_at <= marks.marked_at or marks.resumed_at <= marks.marked_at or marks.resumed_at > marks.cleared_at
                then 'The times are not in order. A mark is set, landing may resume, and it is cleared.'
            when marks.resumed_at is not null and not marks.stops_landing
                then 'Resumes what it does not stop. Leave resumed_at empty.'
            when greatest(marks.marked_at, marks.resumed_at, marks.cleared_at) > current_timestamp()
                then 'Is marked or cleared at a time to come. Write it down when it is so.'
        end as problem

    from marks
    left join landed
        on marks.feed = landed.feed and marks.partition = landed.partition
    left join (
        select feed

        from {{ ref('promises') }}
        where promise = 'load_type'
            and value = 'snapshot'
    ) as promised
        on marks.feed = promised.feed
) as judged
where problem is not null
