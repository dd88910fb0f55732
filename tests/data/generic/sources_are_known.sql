{#
    Every source that a rule in force lists has said something; if not, its name is wrong or its feed is still to come.

    The seeds alone cannot tell: a source is whoever the evidence names.
#}
{% test sources_are_known(model, assertions) %}

with known as (

    select collect_set(source_system) as sources

    from {{ assertions }}

)

select
    rules.attribute_group,
    rules.source_system,
    concat(
        'No evidence comes from ', rules.source_system, ', so this decides nothing. Correct its name (there are: ',
        array_join(array_sort(known.sources), ', '), '), or leave the row until its feed has landed.'
    ) as problem

from {{ model }} as rules
cross join known
where rules.is_in_basis
    and rules.source_system is not null
    and not array_contains(known.sources, rules.source_system)
    and size(known.sources) > 0

{% endtest %}
