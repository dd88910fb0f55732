{#
    What a build of Silver rests on: up to when it knows, by which rules, on which landings and marks.

    The package adds the sum of `belief`, which is what came out, and keeps of the landings those
    that no earlier basis names.
#}
{% macro basis(belief, evidence, assertions, rules, marks) -%}

with known as (

    select {{ attest.basis_instant('max(known_from)', rules) | indent(8) }} as at

    from {{ assertions }}

),

ruled as (

    {{ attest.rule_set_hash(rules) | indent(4) }}

),

landed as (

    select array_sort(collect_list(landing_id)) as landings

    from (select distinct landing_id from {{ evidence }})

),

marked as (

    select array_sort(collect_list(mark_id)) as marks

    from {{ marks }}
    where cleared_at is null

)

select
    '{{ belief }}' as belief,
    known.at as known_at,
    ruled.rule_set_hash,
    landed.landings,
    marked.marks

from known
cross join ruled
cross join landed
cross join marked
where known.at is not null

{%- endmacro %}


{# Law S7: the newest of all that is known, or of the rules known by now, whichever is later, unless it is set. #}
{% macro basis_instant(newest, rules) -%}
coalesce(
    (select max(basis_set) from {{ rules }}),
    greatest({{ newest }}, (select max(if(is_in_basis, known_from, null)) from {{ rules }}))
)
{%- endmacro %}


{# Equal hashes, equal rules: what decides at the build's basis. #}
{% macro rule_set_hash(rules) -%}
select sha2(array_join(array_sort(collect_set(rule_id)), ','), 256) as rule_set_hash

from {{ rules }}
where is_in_basis
{%- endmacro %}
