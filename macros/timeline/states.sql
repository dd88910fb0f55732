{#
    One row an assertion, in order, with its entity's whole state after it and the version it is part of.

        order -> whole state -> hash -> mark where it changes -> number versions -> close them

    Law B1: a pure function of the entity's evidence, written for the whole entity at once, so
    that no reader ever sees a version without its assertions. The timeline is the rows that
    start a version. Untracked attributes are evidence, and no part of any state (law E3).
#}
{% macro states(arrivals, sightings, attributes, untracked={}, hash_version=1) -%}

{%- set spoken_of = dict(attributes, **untracked) %}

with ordered as (

    {{ attest.ordered(arrivals, spoken_of, sightings) | indent(4) }}

),

packed as (

    -- What no step below looks at goes through them as one value: half of what a step costs is copying.
    select
        bk,
        clock,
        position,
        source_system,
        ingest_ts,
        inheritance,
        effective_ts,
        is_deleted,
        mentions,
        unchanged,
        struct({{ attest.carried_columns() | indent(8) }}) as carried

    from ordered

),

completed as (

    {{ attest.complete_states('packed', spoken_of, untracked) | indent(4) }}

),

hashed as (

    {{ attest.hash_states('completed', attributes, hash_version) | indent(4) }}

),

marked as (

    {{ attest.mark_state_changes('hashed') | indent(4) }}

),

numbered as (

    {{ attest.number_versions('marked') | indent(4) }}

)

select
    * except (carried),
    carried.*,
    cast(null as timestamp) as known_until

from (
    {{ attest.close_versions('numbered') | indent(4) }}
) as closed

{%- endmacro %}
