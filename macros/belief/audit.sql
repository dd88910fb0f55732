{#
    What is believed of every entity at the build's basis instant, the deleted and the unbelieved included.
#}
{% macro audit(belief, bases) -%}

with basis as (

    select max_by(known_at, stamped_at) as known_at

    from {{ bases }}

)

select
    belief.*,
    basis.known_at

from {{ belief }} as belief
cross join basis
where {{ attest.is_within('basis.known_at', 'belief.effective_from', 'belief.effective_to') }}

{%- endmacro %}
