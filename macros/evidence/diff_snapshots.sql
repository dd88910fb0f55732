{#
    What each snapshot says of each entity beside the one before it: new, modified, delisted or unchanged.

        snapshot      S1     S2          S3          S4
        A lists       x      x           x                      new, unchanged, unchanged, delisted
        B lists              x           y           y          new, modified, unchanged

    Law C5: in the order of their times, each against the preceding accepted one of its feed and
    scope. `listed` has the assertions of a feed, one a record; those that stay are assertions
    at their snapshot's time, in which a value within its tolerance is the one that its version began
    with, so that drift cannot creep. What is delisted is counted here, and deleted by absence (law B8).
#}
{% macro diff_snapshots(listed, snapshots, promises, attributes) -%}

with placed as (

    {{ attest.place_snapshots(snapshots) | indent(4) }}

),

seen as (

    {{ attest.see_again(listed, 'placed', attributes) | indent(4) }}

),

settled as (

    {{ attest.settle_within_tolerance('seen', promises) | indent(4) }}

),

compared as (

    select
        * except (mentions),
        map_concat(
            map_filter(mentions, (attribute, value) -> attribute not in ('{{ attributes | join("', '") }}')),
            map_from_entries(transform(told, one -> struct(one.key, map_from_entries(began_with)[one.key])))
        ) as mentions,
        case
            when is_listed_anew then 'new'
            when begins then 'modified'
            else 'unchanged'
        end as change

    from settled

)

select
    {{ attest.assertion_columns() | indent(4) }},
    prior_landing_id,
    change

from compared

union all

select
    {{ attest.assertion_columns() | indent(4) }},
    prior_landing_id,
    change

from (
    {{ attest.delisted('settled', 'placed') | indent(4) }}
) as gone

{%- endmacro %}
