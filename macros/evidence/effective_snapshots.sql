{#
    The snapshots whose absences count: those that passed, and those held that a person released.

    A ruling's time is when it became known; a withdrawn snapshot proves nothing any more.
#}
{% macro effective_snapshots(decided, rulings) -%}

select
    snapshot.* except (decision),
    released.known_from as released_at

from {{ decided }} as snapshot
left join {{ rulings }} as released
    on snapshot.landing_id = released.snapshot and released.ruling = 'release'
left anti join {{ rulings }} as withdrawn
    on snapshot.landing_id = withdrawn.snapshot and withdrawn.ruling = 'withdraw'
where snapshot.decision = 'passed'
    or (snapshot.decision = 'held' and released.snapshot is not null)

{%- endmacro %}


{% macro no_snapshots() -%}
select
    'none' as feed,
    timestamp '1900-01-01' as as_of,
    array('') as scopes

where false
{%- endmacro %}
