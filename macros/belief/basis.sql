{#
    What a build of Silver rests on: up to when it knows, by which rules, on which landings, and the sum of what came out.

    `before` are the bases stamped so far, or none: a basis names the landings that it adds
    to theirs, so that all of its evidence can be told again, whatever lands later.
#}
{% macro basis(belief, evidence, assertions, rules, marks, before) -%}

with known as (

    select {{ attest.basis_instant('max(known_from)', rules) | indent(8) }} as at

    from {{ assertions }}

),

ruled as (

    {{ attest.rule_set_hash(rules) | indent(4) }}

),

landed as (

    select array_sort(collect_set(landing_id)) as landings

    from {{ evidence }}

),

earlier as (

    {%- if before %}

    select flatten(collect_list(landings)) as landings

    from {{ before }}
    {%- else %}

    select cast(array() as array<string>) as landings
    {%- endif %}

),

marked as (

    select array_sort(collect_list(mark_id)) as marks

    from {{ marks }}
    where cleared_at is null

),

content as (

    {{ attest.content_of(belief) | indent(4) }}

)

select
    known.at as known_at,
    ruled.rule_set_hash,
    array_except(landed.landings, earlier.landings) as landings,
    marked.marks,
    content.beliefs,
    content.content

from known
cross join ruled
cross join landed
cross join earlier
cross join marked
cross join content
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


{# How many rows, and one sum over every column of all of them, whatever their order. #}
{% macro content_of(rows) -%}
select
    count(*) as beliefs,
    concat(hex(coalesce(bit_xor(xxhash64(*)), 0)), '-', hex(coalesce(bit_xor(xxhash64(*, 1)), 0))) as content

from {{ rows }}
{%- endmacro %}
