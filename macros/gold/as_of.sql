{#
    Facts, each with the version that covers its instant: by key, and by the chunk of the key's versions that it falls in.

        reaches     [1 …                        [4097 …      a reach is 64 chunks
        chunks      [1 …  |[65 …  |[129 …       |            a chunk is 64 versions of one key
        fact                         x                       finds its reach, its chunk, its version

    Law C2: half-open, so a fact at the instant of a change gets the version that begins there;
    in a gap it gets none. No fact meets more than 64 versions, however many its key has, and a
    key of many spreads over all tasks. Facts are shuffled once, and not at all where the dimension is small
    enough to be broadcast. `facts` need `happened_at`; the dimension is one that `dimension` writes.
#}
{% macro as_of(facts, dimension, found_by, called) -%}

{%- set chunk = 64 -%}

with chunks as (

    select
        bk,
        cast((version - 1) div {{ chunk }} as int) as version_chunk,
        cast((version - 1) div {{ chunk * chunk }} as int) as reach,
        effective_from as chunk_from,
        lead(effective_from) over (partition by bk order by version) as chunk_to

    from {{ dimension }}
    where version > {{ chunk }}
        and version % {{ chunk }} = 1

),

reaches as (

    select
        bk,
        reach,
        chunk_from as reach_from,
        lead(chunk_from) over (partition by bk order by reach) as reach_to

    from chunks
    where version_chunk % {{ chunk }} = 0

),

placed as (

    select /*+ broadcast(reaches), broadcast(chunks) */
        facts.*,
        coalesce(chunks.version_chunk, 0) as version_chunk

    from {{ facts }} as facts
    left join reaches
        on facts.{{ found_by }} = reaches.bk
            and {{ attest.is_within('facts.happened_at', 'reaches.reach_from', 'reaches.reach_to') }}
    left join chunks
        on facts.{{ found_by }} = chunks.bk
            and coalesce(reaches.reach, 0) = chunks.reach
            and {{ attest.is_within('facts.happened_at', 'chunks.chunk_from', 'chunks.chunk_to') }}

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
        and {{ attest.is_within('placed.happened_at', 'versions.effective_from', 'versions.effective_to') }}

{%- endmacro %}
