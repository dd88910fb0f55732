{#
    Where two histories of the same entities hold different values: one row an entity, attribute and interval.

        before    [---- a ----[---- b ---------
        after     [---- a ---------[---- b ----
        differs               [----[

    An entity that only one of the two knows differs in everything that the other holds.
#}
{% macro differences(before, after, attributes) -%}

with moments as (

    select
        bk,
        at,
        true as is_before,
        struct({{ attributes | join(', ') }}) as held

    from ({{ before | indent(4) }})

    union all

    select
        bk,
        at,
        false as is_before,
        struct({{ attributes | join(', ') }}) as held

    from ({{ after | indent(4) }})

),

side_by_side as (

    select
        bk,
        at,
        before is not null as was_known,
        after is not null as is_known,
        one.attribute,
        one.before,
        one.after

    from (
        select
            bk,
            at,
            lead(at) over in_time as next_at,
            last_value(if(is_before, held, null), true) over so_far as before,
            last_value(if(is_before, null, held), true) over so_far as after

        from moments
        window
            in_time as (partition by bk order by at, is_before),
            so_far as (partition by bk order by at, is_before rows between unbounded preceding and current row)
    )
    lateral view explode(array(
        {%- for attribute in attributes %}
        struct(
            '{{ attribute }}' as attribute,
            {{ attest.as_told('before.' ~ attribute) | indent(12) }} as before,
            {{ attest.as_told('after.' ~ attribute) | indent(12) }} as after
        ){{ ',' if not loop.last }}
        {%- endfor %}
    )) as one
    where next_at is null
        or next_at > at

),

marked as (

    select
        *,
        not before.value <=> after.value or (was_known <> is_known and attribute <> 'is_deleted') as differs,
        not struct(was_known, is_known, before, after)
            <=> lag(struct(was_known, is_known, before, after)) over in_time as starts

    from side_by_side
    window in_time as (partition by bk, attribute order by at)

)

select
    bk,
    attribute,
    at as effective_from,
    ends_at as effective_to,
    was_known,
    is_known,
    before,
    after

from (
    select
        *,
        lead(at) over in_time as ends_at

    from marked
    where starts
    window in_time as (partition by bk, attribute order by at)
)
where differs

{%- endmacro %}


{# What is compared of what is held, with values as people write them; nobody's word on is_deleted means it is not. #}
{% macro as_told(held) -%}
struct(
    {{ "coalesce(" ~ held ~ ".value, 'false')" if held.endswith('.is_deleted') else attest.plain(held ~ '.value') }} as value,
    {{ held }}.source_system,
    {{ held }}.assertion_id,
    {{ held }}.rule_id,
    {{ held }}.caveat
)
{%- endmacro %}
