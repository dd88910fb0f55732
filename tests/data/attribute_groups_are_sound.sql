-- The attributes that no rule could decide, or two could, each with what to do in seeds/attribute_groups.csv.

with attributes as (
    {%- for entity, declaration in var('entities').items() %}
    {%- for attribute in declaration['attributes'].keys() | list + ['is_deleted'] %}

    select
        '{{ entity }}' as entity,
        '{{ attribute }}' as attribute,
        null as attribute_group,
        true as is_declared

    union all
    {%- endfor %}
    {%- endfor %}

    select
        entity,
        attribute,
        attribute_group,
        false as is_declared

    from {{ ref('attribute_groups') }}

)

select *

from (
    select
        entity,
        attribute,
        max(attribute_group) as attribute_group,
        case
            when not max(is_declared)
                then 'Is not declared. Correct the name, or declare the attribute of this entity in dbt_project.yml.'
            when count_if(not is_declared) = 0
                then 'Is in no group, so nobody is ever believed for it. Add a row for it.'
            when count_if(not is_declared) > 1
                then 'Is there more than once. Keep the row of the group that is to decide it.'
            when max(attribute_group) is null
                then 'attribute_group is empty. Name the group that decides it.'
            when not array_contains(
                -- The groups for which some source stays listed.
                (
                    select collect_set(struct(entity, attribute_group))

                    from {{ ref('precedence') }}
                    where effective_to is null and known_to is null
                ),
                struct(entity, max(attribute_group) as attribute_group)
            )
                then 'No source is listed for its group without an end. Add a row to precedence.csv.'
        end as problem

    from attributes
    group by entity, attribute
)
where problem is not null
