{#
    In English, why one candidate lost to another.
#}
{% macro why_it_lost(loser, winner) -%}
case
    when not {{ loser }}.standing.is_listed
        then concat({{ loser }}.claim.source_system, ' is not listed for this attribute, so it is never believed for it')
    when {{ winner }}.rule = 'highest_rank' and {{ loser }}.standing.first < {{ winner }}.standing.first
        then concat('rank ', {{ loser }}.rank, ' is below ', {{ winner }}.claim.source_system, '''s rank ', {{ winner }}.rank)
    when {{ winner }}.claim.source_event_ts > {{ loser }}.claim.source_event_ts
        then concat('said at ', {{ instant(loser) }}, ', before ', {{ winner }}.claim.source_system, ' said at ', {{ instant(winner) }})
    when {{ loser }}.rank < {{ winner }}.rank
        then concat('said at the same instant, and rank ', {{ loser }}.rank, ' is below ', {{ winner }}.claim.source_system, '''s rank ', {{ winner }}.rank)
    else concat('same rank and instant; ', {{ winner }}.claim.source_system, '''s word comes later in the total order')
end
{%- endmacro %}


{% macro instant(candidate) -%}
date_format({{ candidate }}.claim.source_event_ts, 'yyyy-MM-dd HH:mm:ss.SSSSSS')
{%- endmacro %}
