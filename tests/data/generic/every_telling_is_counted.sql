{#
    The events of each key and their repeats are as many as the assertions of the evidence.

    Laws B7 and E2: an event is told once or often, and no telling is lost. What is marked is left out (law C4).
#}
{% test every_telling_is_counted(model, evidence, marks) %}

with counted as (

    select
        bk,
        sum(replay_count + 1) as tellings

    from {{ model }}
    group by bk

),

told as (

    select
        bk,
        count(*) as assertions

    from {{ attest.unmarked(evidence, marks) }} as kept
    group by bk

)

select
    coalesce(counted.bk, told.bk) as bk,
    counted.tellings,
    told.assertions,
    'The events do not add up to the evidence. Rebuild this table with --full-refresh.' as problem

from counted
full outer join told
    on counted.bk = told.bk
where not counted.tellings <=> told.assertions

{% endtest %}
