{#
    A dimension: one row a version of an entity that is live, shaped by the types of its attributes.

        belief      [- a -[- a -[- b -[ deleted [- b ---
        versions    [--- 1 ----[- 2 --[         [- 3 ---

    Law C3: what is deleted, or believed of in nothing, is a gap. A version is the longest run
    of intervals without a gap in which the attributes that open versions keep their values.
    `types` gives each attribute its type or list of types (columns_shown); `open_end`, how
    the open window ends: an instant, or null where it is none.
#}
{% macro dimension(belief, types, open_end=none) -%}

{%- set tracked = attest.attributes_shown(types, ['then']).split() -%}
{%- set outrigger = attest.outrigger_of(types).split() -%}

with intervals as (

    {{ attest.how_it_ends(belief) | indent(4) }}

),

compared as (

    {{ attest.compare_with_before('intervals', attest.attributes_shown(types, ['then', 'before']).split(), outrigger) | indent(4) }}

),

marked as (

    select
        *,
        {{ attest.starts_anew(tracked) }} as starts_version,
        {{ attest.starts_anew(outrigger) }} as starts_outrigger

    from compared

),

placed as (

    {{ attest.look_around('marked', types) | indent(4) }}

),

closed as (

    select
        *,
        coalesce(lead(ending_before) over in_time, now.ending) as ended,
        lead(effective_from) over in_time as next_from

    from placed
    where starts_version
    window in_time as (partition by bk order by effective_from)

)

select
    bk,
    sk,
    {{ attest.version_key(tracked) | indent(4) }} as version_sk,
    version,
    {%- for line in attest.columns_shown(types).split('\n') %}
    {%- set column, attribute, shape = line.split(' ') %}
    {{ attest.shown_as(attribute, shape) }}{{ ' as ' ~ column if shape not in ('then', 'now') or column != attribute }},
    {%- endfor %}
    {%- if outrigger %}
    history_version_sk,
    {%- endif %}
    effective_from,
    {{ 'ended.at' if open_end is none else "coalesce(ended.at, timestamp '" ~ open_end ~ "')" }} as effective_to,
    ended.at is null as current_flag,
    {{ attest.why_it_begins(tracked) | indent(4) }} as change_reason,
    {{ attest.who_opened_it(tracked) | indent(4) }} as change_source,
    case
        when ended.at is null
            then null
        when ended.is_deleted
            then 'deleted'
        when next_from = ended.at
            then 'changed'
        else 'nothing believed'
    end as end_reason,
    {{ attest.hash_of(tracked) | indent(4) }} as attr_hash,
    {{ attest.evidence_of(types) | indent(4) }} as evidence

from closed

{%- endmacro %}
