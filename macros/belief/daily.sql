{#
    Published days as readers see them: each as it was published, or, where it is marked bad, made good.

        published    1 March    2 March    3 March (marked)
        readers      1 March    2 March    2 March, with what is known by the end of the 3rd of whom anything was learnt since

    Law C4: an older good day, and the later deltas decided anew from evidence that is not marked.
    `repaired` has the beliefs that `repairs`, which this writes, asks for.
#}
{% macro daily(days, marks, assertions, belief, repaired, attributes) -%}

with published as (

    select
        day.published_on,
        min(day.as_at) as as_at,
        max(mark.feed) is not null as is_marked

    from {{ days }} as day
    left join {{ marks }} as mark
        on mark.cleared_at is null
        and mark.feed = '{{ days.identifier }}'
        and cast(day.published_on as string) = mark.partition
    group by day.published_on

),

standing_in as (

    select
        bad.published_on,
        bad.as_at,
        max(good.published_on) as good_on,
        coalesce(max(good.as_at), {{ attest.the_beginning() }}) as good_at

    from published as bad
    left join published as good
        on bad.published_on > good.published_on
        and not good.is_marked
    where bad.is_marked
    group by bad.published_on, bad.as_at

),

repairs as (

    -- Of whom anything was learnt, or happened, or came under another rule since.
    select distinct
        said.bk,
        day.as_at,
        day.as_at as known_at

    from standing_in as day
    inner join {{ assertions }} as said
        on (day.good_at < said.known_from and day.as_at >= said.known_from)
        or (day.good_at < said.effective_ts and day.as_at >= said.effective_ts)

    union

    select distinct
        held.bk,
        day.as_at,
        day.as_at as known_at

    from standing_in as day
    inner join {{ belief }} as held
        on day.good_at < held.effective_from
        and day.as_at >= held.effective_from

)

select
    day.*,
    cast(null as date) as stands_in

from {{ days }} as day
inner join published
    on day.published_on = published.published_on
where not published.is_marked

union all

select
    day.published_on,
    good.bk,
    day.as_at,
    day.as_at as known_at,
    {%- for attribute in attributes %}
    good.{{ attribute }},
    {%- endfor %}
    good.is_deleted,
    good.published_at,
    day.good_on as stands_in

from standing_in as day
inner join {{ days }} as good
    on day.good_on = good.published_on
left anti join repairs
    on good.bk = repairs.bk
    and day.as_at = repairs.as_at

union all

select
    day.published_on,
    one.bk,
    one.as_at,
    one.known_at,
    {%- for attribute in attributes %}
    one.{{ attribute }},
    {%- endfor %}
    one.is_deleted,
    cast(null as timestamp) as published_at,
    day.good_on as stands_in

from {{ repaired }} as one
inner join standing_in as day
    on one.as_at = day.as_at

{%- endmacro %}


{# The columns of a table of published days. #}
{% macro day_columns(attributes) -%}
published_on date, bk string, as_at timestamp, known_at timestamp,
{%- for attribute, type in attributes.items() %} {{ attribute }} {{ type }},{% endfor %} is_deleted boolean, published_at timestamp
{%- endmacro %}
