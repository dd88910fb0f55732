{#
    Facts, each with the version that covers its instant: by key, and by the chunk of the key's versions that it falls in.

        versions    [1 [2 … [64  |[65 … [128 |[129 …        a chunk is 64 versions of one key
        fact                              x                 looks at one chunk

    Law C2: half-open, so a fact at the instant of a change gets the version that begins there;
    in a gap it gets none. No fact meets more than 64 versions, however many its key has, and a
    key of many spreads over all tasks. Facts are shuffled once, and not at all where the dimension is small
    enough to be broadcast. `facts` need `happened_at`; the dimension is one that `dimension` writes.
#}
{% macro as_of(facts, dimension, found_by, called) -%}

{%- set chunk = 64 -%}

with deep as (

    select
        bk,
        array_sort(collect_list(effective_from)) as chunk_starts

    from {{ dimension }}
    where version > {{ chunk }}
        and version % {{ chunk }} = 1
    group by bk

),

placed as (

    select /*+ broadcast(deep) */
        facts.*,
        if(deep.bk is null, 0, {{ attest.chunks_begun('deep.chunk_starts', 'facts.happened_at') | indent(8) }}) as version_chunk

    from {{ facts }} as facts
    left join deep
        on facts.{{ found_by }} = deep.bk

),

versions as (

    select
        bk,
        sk,
        version_sk,
        effective_from,
        effective_to,
        cast((version - 1) div {{ chunk }} as int) as version_chunk

    from {{ dimension }}

)

select
    placed.* except (version_chunk),
    versions.sk as {{ called }}_sk,
    versions.version_sk as {{ called }}_version_sk

from placed
left join versions
    on placed.{{ found_by }} = versions.bk
        and placed.version_chunk = versions.version_chunk
        and placed.happened_at >= versions.effective_from
        and (versions.effective_to is null or placed.happened_at < versions.effective_to)

{%- endmacro %}


{# How many of these instants, in their order, are not after another: found by halving. #}
{% macro chunks_begun(starts, instant) -%}
aggregate(
    sequence(cast(floor(log2(size({{ starts }}))) as int), 0, -1),
    0,
    (found, step) -> if(
        get({{ starts }}, found + shiftleft(1, step) - 1) <= {{ instant }},
        found + shiftleft(1, step),
        found
    )
)
{%- endmacro %}
