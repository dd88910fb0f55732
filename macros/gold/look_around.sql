{#
    Each live interval with its version's number, and with what its entity's other intervals tell of it.

        original    |a|
        turn              |--- since then b, before it a ---
        now                                            | b |

    One sort: every window runs over the entity in time.
#}
{% macro look_around(marked, types) -%}

{%- set outrigger = attest.outrigger_of(types).split() -%}

select
    *,
    sum(cast(starts_version as int)) over so_far as version,
    last_value(struct(
        {%- for attribute in attest.attributes_shown(types, ['now']).split() %}
        {{ attribute }},
        {{ attest.told_by(attribute) }} as {{ attribute }}_told_by,
        {%- endfor %}
        ending
    )) over whole as now
    {%- for attribute in attest.attributes_shown(types, ['original']).split() %},
    first_value(
        if({{ attribute }} is null, null, struct({{ attribute }} as value, {{ attest.told_by(attribute) }} as told_by)),
        true
    ) over whole as {{ attribute }}_original
    {%- endfor %}
    {%- for attribute in attest.attributes_shown(types, ['before']).split() %},
    last_value(
        if(is_first or changes.{{ attribute }}, struct(before.{{ attribute }} as value, effective_from as at), null),
        true
    ) over {{ 'so_far' if attribute in attest.attributes_shown(types, ['then']).split() else 'whole' }} as {{ attribute }}_turn
    {%- endfor %}
    {%- if outrigger %},
    last_value(
        if(starts_outrigger, {{ attest.version_key(outrigger) | indent(8) }}, null),
        true
    ) over whole as history_version_sk
    {%- endif %}

from {{ marked }}
window
    so_far as (
        partition by bk order by effective_from
        rows between unbounded preceding and current row
    ),
    whole as (
        partition by bk order by effective_from
        rows between unbounded preceding and unbounded following
    )

{%- endmacro %}


{# Who is believed of an attribute, and in which assertion. #}
{% macro told_by(attribute) -%}
struct({{ attribute }}_source as source_system, {{ attribute }}_assertion as assertion_id)
{%- endmacro %}
