-- The partitions that are marked bad, and so left out of what this build made.
select
    feed,
    partition,
    marked_by,
    marked_at,
    reason

from {{ ref('marks') }}
where cleared_at is null
    and partition is not null
