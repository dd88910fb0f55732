{#
    Every fact has an instant, and none lies after its own arrival: else no version can be said to cover it.

    Clocks differ a little, so five minutes are allowed. A fact that another one corrects is settled.
#}
{% test facts_have_a_time(model, at='happened_at', seen='ingest_ts', key='bk', corrects=none) %}

select
    fact.{{ key }},
    fact.{{ at }},
    fact.{{ seen }},
    case
        when fact.{{ at }} is null
            then 'NullFactTimeError: has no instant, so it finds no version. '
        else concat('FutureFactError: says that it happened ', fact.{{ at }}, ', after it arrived at ', fact.{{ seen }}, '. ')
    end
    || {% if corrects is none -%}
    'Correct it at its source and land it again.' as problem
    {%- else -%}
    concat('Have its source send a correction whose {{ corrects }} is ', fact.{{ key }}, '.') as problem
    {%- endif %}

from {{ model }} as fact
{%- if corrects is not none %}
left anti join {{ model }} as correction
    on fact.{{ key }} = correction.{{ corrects }}
{%- endif %}
where fact.{{ at }} is null
    or fact.{{ at }} > fact.{{ seen }} + interval 5 minutes

{% endtest %}
