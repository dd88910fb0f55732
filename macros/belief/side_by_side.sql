{#
    Each lane's latest claim, side by side, wherever one is made, expires or is asked about.

    Moments and claims are laid on one line of time per lane, and each moment takes the last
    claim before it: no join, whatever the skew. Every claim brings its own moments to all
    lanes that ever spoke; the first one brings those that are asked about.
#}
{% macro side_by_side(claims) -%}

select
    {{ attest.line() }},
    attribute,
    at,
    min(asks_from) as asks_from,
    array_contains(any_value(asked), at) as is_asked,
    collect_set(heard) as candidates

from (
    select
        {{ attest.line() }},
        attribute,
        at,
        asks_from,
        asked,
        is_moment,
        last_value(heard, true) over so_far as heard

    from (
        select
            {{ attest.line() }},
            attribute,
            asks_from,
            asked,
            laid.*

        from (
            select
                *,
                collect_set(lane) over of_all as lanes,
                array_compact(array_union(
                    array(at, if(claim.expires_at > at, claim.expires_at, null), claim.fresh_until),
                    if(row_number() over in_order = 1, asked, array())
                )) as moments,
                struct(claim, lag(claim) over in_lane as before) as heard

            from {{ claims }}
            window
                of_all as (partition by {{ attest.line() }}, attribute),
                in_order as (partition by {{ attest.line() }}, attribute order by position),
                in_lane as (partition by {{ attest.line() }}, attribute, lane order by position)
        )
        lateral view explode(array_append(
            flatten(transform(
                filter(array_distinct(moments), moment -> moment < period_until),
                moment -> transform(lanes, lane -> struct(
                    lane,
                    moment as at,
                    true as is_moment,
                    cast(null as bigint) as position,
                    if(false, heard, null) as heard
                ))
            )),
            struct(lane, at, false as is_moment, position, heard)
        )) as laid
    )
    window so_far as (
        partition by {{ attest.line() }}, attribute, lane order by at, is_moment, position
        rows between unbounded preceding and current row
    )
)
where is_moment
    and heard is not null
group by {{ attest.line() }}, attribute, at

{%- endmacro %}
