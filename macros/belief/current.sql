{#
    What is believed at the build's basis instant: live entities of which something is believed.
#}
{% macro current(belief, assertions, rules) -%}

with basis as (

    select coalesce(
        (select max(basis_set) from {{ rules }}),
        greatest(
            (select max(ingest_ts) from {{ assertions }}),
            (select max(if(is_in_basis, known_from, null)) from {{ rules }})
        )
    ) as at

)

select belief.* except (is_anything_believed)

from {{ belief }} as belief
cross join basis
where {{ is_within('basis.at', 'belief.effective_from', 'belief.effective_to') }}
    and not belief.is_deleted
    and belief.is_anything_believed

{%- endmacro %}
