{%- set landing_models = graph.nodes.values() | selectattr('config.materialized', 'equalto', 'landing') | map(attribute='name') -%}
{%- set by_arrival, with_fallback = ['none'], [] -%}
{%- for entity, declaration in var('entities').items() -%}
    {%- if declaration.get('clock') == 'arrival' -%}
        {%- do by_arrival.append(entity) -%}
    {%- endif -%}
    {%- if graph.nodes.values() | selectattr('name', 'equalto', entity ~ '_fallback_timeline') | list -%}
        {%- do with_fallback.append(entity) -%}
    {%- endif -%}
{%- endfor -%}
{%- set transactions = var('transactions', {}).keys() | list -%}
{%- set entities = var('entities').keys() | list + transactions -%}
-- The rows of seeds/feeds.csv that cannot stand, each with what is wrong and what to do.

with feeds as (

    select
        feed.*,
        count(*) over (partition by feed.feed) as times,
        promised.feed is not null as has_source_time

    from {{ ref('feeds') }} as feed
    left join {{ ref('promises') }} as promised
        on feed.feed = promised.feed and promised.promise = 'source_time'

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
                then concat('No model reads what it lands. Add models/landing/feeds/landing_', feed, '.sql and the mapping of the feed.')
        end,
        case
            when entity is null
                then 'entity is empty. Name the entity that the feed is about.'
            when entity not in ('{{ entities | join("', '") }}')
                then concat('No entity is called ', entity, '. There are: {{ entities | join(", ") }}.')
            when has_source_time and entity in ('{{ by_arrival | join("', '") }}')
                then 'Has a source time, and its entity goes by arrival: one timeline cannot have both clocks. Take clock: arrival from the entity, or the promise from the feed.'
            when not has_source_time and entity not in ('{{ (by_arrival + with_fallback + transactions) | join("', '") }}')
                then concat('Has no source time to rely on, and ', entity, ' goes by source time. Add models/bronze/', entity, '/', entity, '_fallback_timeline.sql, where its rows then go.')
        end,
        case
            when owner is null or reason is null
                then 'owner or reason is empty. Say who answers for the feed, and what it is for.'
        end
    ))) as problem

from feeds
