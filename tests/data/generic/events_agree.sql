{#
    Events that claim one identity tell the same, unless a correction of that identity settles it.

    Law B7: what happened once cannot have happened in two ways. Both stay, so that
    nobody's word is lost; this names them until the source has said which is right.
#}
{% test events_agree(model, corrects) %}

select
    conflicting.bk,
    conflicting.event_hash,
    conflicting.source_system,
    conflicting.source_file,
    conflicting.first_seen_ts,
    concat(
        'Another event has this identity and other content. Have ', conflicting.source_system,
        ' send a correction whose {{ corrects }} is ', conflicting.bk, '; until then leave both out of sums.'
    ) as problem

from {{ model }} as conflicting
left anti join {{ model }} as correction
    on conflicting.bk = correction.{{ corrects }}
where conflicting.is_conflicting

{% endtest %}
