{#
    One row an assertion, in the total order of its entity, which is one for each clock.

    Law B6: assertions in source time and those that only have their arrival never stand
    in one order, so no state and no version can mix the two.
#}
{% macro ordered(arrivals, attributes, sightings=none) -%}

select
    *,
    row_number() over (
        partition by bk, clock
        order by
            {{ attest.in_source_time(attributes) | indent(12) }}
    ) as position

from (
    {{ attest.first_copies(arrivals, sightings) | indent(4) }}
) as copies

{%- endmacro %}
