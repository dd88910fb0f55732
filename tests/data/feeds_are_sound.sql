{%- set landing_models = graph.nodes.values() | selectattr('config.materialized', 'equalto', 'landing') | map(attribute='name') -%}
{%- set entities = var('entities').keys() | list + var('transactions').keys() | list -%}
-- The rows of seeds/feeds.csv that cannot stand, each with what is wrong and what to do.

with feeds as (

    select
        *,
        count(*) over (partition by feed) as times

    from {{ ref('feeds') }}

)

select
    feed,
    entity,
    owner,
    explode(array_compact(array(
        case
            when feed is null
                then 'feed is empty. Name the feed.'
            when feed not rlike '^[a-z][a-z0-9_]*$'
                then 'The name cannot be part of a table name. Use small letters, digits and _, a letter first.'
            when times > 1
                then 'Is there more than once. Keep one row.'
            when concat('landing_', feed) not in ('{{ landing_models | join("', '") }}')
                then concat('No model reads what it lands. Add models/landing/landing_', feed, '.sql and the mapping of the feed.')
        end,
        case
            when entity is null
                then 'entity is empty. Name the entity that the feed is about.'
            when entity not in ('{{ entities | join("', '") }}')
                then concat('No entity is called ', entity, '. There are: {{ entities | join(", ") }}.')
        end,
        case
            when owner is null or reason is null
                then 'owner or reason is empty. Say who answers for the feed, and what it is for.'
        end
    ))) as problem

from feeds
