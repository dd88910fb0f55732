{#
    The best standing so far of every attribute, all along each line of time, where it is asked for.

        said        CRM 1 ------ CORE 2 ------ CRM 1 ----------   by rank
        best        CRM          CORE          CORE ---- ? ----   a question takes what stands there

    Laws S1 and S2. Under highest_rank and most_recent what a source says later never stands
    below what it said before, so the best of all sources' latest words is the best word so
    far: a running maximum, one sort, whatever the skew. Where that does not hold a contest
    decides, and its outcome stands above any claim, the later above the earlier.
#}
{% macro line_of_time(heard, contests, questions, attributes) -%}

select
    {{ attest.line() }},
    at,
    {%- for attribute in attributes %}
    {{ attribute }}{{ ',' if not loop.last }}
    {%- endfor %}

from (
    select
        {{ attest.line() }},
        at,
        asks,
        lead(at) over in_time as next_at,
        count(position) over so_far > 0 as is_heard_of,
        {%- for attribute in attributes %}
        max({{ attribute }}) over so_far as {{ attribute }}{{ ',' if not loop.last }}
        {%- endfor %}

    from (
        select
            {{ attest.line() }},
            at,
            position,
            at >= asks_from as asks,
            false as is_question,
            {%- for attribute in attributes %}
            {{ attest.claim_of(attribute) | indent(12) }} as {{ attribute }}{{ ',' if not loop.last }}
            {%- endfor %}

        from {{ heard }}

        union all

        select
            {{ attest.line() }},
            at,
            null as position,
            at >= asks_from as asks,
            false as is_question,
            {%- for attribute in attributes %}
            if(attribute = '{{ attribute }}', outcome, null) as {{ attribute }}{{ ',' if not loop.last }}
            {%- endfor %}

        from {{ contests }}

        union all

        select
            {{ attest.line() }},
            as_at as at,
            null as position,
            true as asks,
            true as is_question,
            {%- for attribute in attributes %}
            null as {{ attribute }}{{ ',' if not loop.last }}
            {%- endfor %}

        from {{ questions }}
    ) as moments
    window
        in_time as (partition by {{ attest.line() }} order by at, is_question, position),
        so_far as (
            partition by {{ attest.line() }} order by at, is_question, position
            rows between unbounded preceding and current row
        )
) as stood
where asks
    and is_heard_of
    and (next_at is null or next_at > at)

{%- endmacro %}


{# What names a line of time: the entity, the state of knowledge, what is left out, the period of rules. #}
{% macro line() %}bk, known_by, without, period{% endmacro %}


{# What a row claims of an attribute, and how it stands; null where it does not, or no rule lists its source. #}
{% macro claim_of(attribute) -%}
{%- set rule = "rules['" ~ attribute ~ "']" -%}
{%- set value = 'is_deleted' if attribute == 'is_deleted' else "mentions['" ~ attribute ~ "']" -%}
if(
    {{ 'true' if attribute == 'is_deleted' else "map_contains_key(mentions, '" ~ attribute ~ "')" }} and {{ rule }}.clock = clock,
    {{ attest.held(
        tier=0,
        standing=(
            'if(' ~ rule ~ ".rule = 'highest_rank', " ~ rule ~ '.rank, unix_micros(at))',
            'if(' ~ rule ~ ".rule = 'highest_rank', unix_micros(at), " ~ rule ~ '.rank)',
            'position',
        ),
        value=value,
        source='source_system',
        assertion='assertion_id',
        rule=rule ~ '.rule_id',
        caveat="if(clock = 'arrival', 'by arrival', null)"
    ) | indent(4) }},
    null
)
{%- endmacro %}


{# What is held of an attribute, the standing first: of two, the greater is believed. #}
{% macro held(tier, standing, value, source, assertion, rule, caveat) -%}
struct(
    {{ tier }} as tier,
    {{ standing[0] }} as first,
    {{ standing[1] }} as second,
    {{ standing[2] }} as third,
    {{ value }} as value,
    {{ source }} as source_system,
    {{ assertion }} as assertion_id,
    {{ rule }} as rule_id,
    {{ caveat }} as caveat
)
{%- endmacro %}
