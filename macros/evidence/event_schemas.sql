{#
    One row a schema that a feed's events were written in, and what it changed of the one before.

    A change of a table tells no event of its own: it shows in the schema of the first event after
    it, and only there.
#}
{% macro event_schemas(landings) -%}

with told as (

    select
        feed,
        recorded_at,
        schema.key as fingerprint,
        schema.value.records,
        schema.value.since,
        schema.value.columns

    from (
        select
            *,
            {{ attest.read_manifest('record') | indent(12) }} as manifest

        from {{ landings }}
        where status = 'control'
    ) as landed
    lateral view explode(map_entries(manifest.schemas)) as schema

),

known as (

    select
        feed,
        fingerprint,
        min(since) as first_event_ts,
        min(recorded_at) as first_landed_at,
        max(recorded_at) as last_landed_at,
        sum(records) as records,
        max_by(columns, recorded_at) as columns

    from told
    group by feed, fingerprint

),

compared as (

    select
        *,
        lag(columns) over (partition by feed order by first_event_ts, first_landed_at, fingerprint) as columns_before

    from known

)

select
    * except (columns_before),
    map_filter(columns, (name, type) -> not map_contains_key(columns_before, name)) as added,
    map_filter(columns_before, (name, type) -> not map_contains_key(columns, name)) as dropped,
    map_filter(
        columns, (name, type) -> map_contains_key(columns_before, name) and columns_before[name] <> type
    ) as altered

from compared

{%- endmacro %}
