{#
    Give each assertion the whole state that it leaves: what it does not mention, it inherits.

    Law B2. `whole_state` is the package's; it takes each entity in one piece and in its
    order, as `ordered` leaves them, and stops the build where they are not. So does a
    mention that the entity no longer declares: no hash could cover it (section 6.6.5).
#}
{% macro complete_states(ordered, attributes, untracked={}) -%}

{%- set mentions = attest.declared('mentions', attributes) -%}
{%- if untracked -%}
    {%- set mentions = 'map_filter(' ~ mentions ~ ", (attribute, value) -> attribute not in ('" ~ untracked | join("', '") ~ "'))" -%}
{%- endif -%}

select
    *,
    whole_state(
        xxhash64(bk, clock),
        position,
        source_system,
        ingest_ts,
        inheritance,
        {{ mentions | indent(8) }},
        unchanged
    ) as state

from {{ ordered }}

{%- endmacro %}
