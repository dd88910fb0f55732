{#
    No attribute opens more than `most` versions an entity, on average: what changes at every load is no slowly changing dimension.

    A warning: the table is right, and grows by a row an entity at each load.
#}
{% test versions_stay_few(model, attributes, key='bk', starts='effective_from', most=20) %}

with compared as (

    select
        {{ key }},
        {%- for attribute in attributes %}
        not {{ attribute }} <=> lag({{ attribute }}) over in_time and row_number() over in_time > 1 as {{ attribute }}_changes{{ ',' if not loop.last }}
        {%- endfor %}

    from {{ model }}
    window in_time as (partition by {{ key }} order by {{ starts }})

),

counted as (

    select
        count(*) as versions,
        count(distinct {{ key }}) as entities,
        map(
            {%- for attribute in attributes %}
            '{{ attribute }}', count_if({{ attribute }}_changes){{ ',' if not loop.last }}
            {%- endfor %}
        ) as opened

    from compared

)

select
    attribute,
    opened_versions,
    entities,
    versions,
    concat(
        'FastChangingAttributeWarning: ', attribute, ' opened ', round(opened_versions / entities, 1), ' of ',
        round(versions / entities, 1), ' versions an entity: ', versions, ' rows for ', entities,
        ' entities. Declare it type 1 if only its newest value counts, type 4 if its history may stand in a table of its own, ',
        'or keep it as facts; if it changes as often as it should, raise `most` for this table.'
    ) as problem

from counted
lateral view explode(opened) as attribute, opened_versions
where opened_versions > {{ most }} * entities

{% endtest %}
