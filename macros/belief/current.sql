{#
    What is believed at the build's basis instant: live entities of which something is believed.
#}
{% macro current(belief, bases) -%}

with basis as (

    select max_by(known_at, stamped_at) as at

    from {{ bases }}

)

select belief.* except (is_anything_believed)

from {{ belief }} as belief
cross join basis
where {{ is_within('basis.at', 'belief.effective_from', 'belief.effective_to') }}
    and not belief.is_deleted
    and belief.is_anything_believed

{%- endmacro %}
