-- The replayed snapshots whose diff and evidence differ.
select
    landing_id,
    new,
    modified,
    unchanged,
    assertions,
    'The diff and the evidence of this capture differ. Look for a filter in its mapping, then drop the evidence and build.' as problem

from {{ ref('captures') }}
where capture_mode = 'full_snapshot'
    and new + modified + unchanged <> assertions
