{#
    The instants at which the belief of an entity can change: what is asked for a full history.

    Where any source speaks, and where a rule begins or ends after the entity was first heard of.
#}
{% macro turning_points(assertions, rules) -%}

select
    bk,
    source_event_ts as as_at,
    (select max(basis_set) from {{ rules }}) as known_at

from {{ assertions }}
where clock = 'source'

union

select
    born.bk,
    boundary.at as as_at,
    (select max(basis_set) from {{ rules }}) as known_at

from (
    select
        bk,
        min(source_event_ts) as at

    from {{ assertions }}
    where clock = 'source'
    group by bk
) as born
inner join (
    select effective_from as at

    from {{ rules }}
    where is_in_basis

    union

    select effective_to as at

    from {{ rules }}
    where is_in_basis
) as boundary
    on born.at < boundary.at

{%- endmacro %}
