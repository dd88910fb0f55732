{#
    What a correction names is there: otherwise it corrects something that we were never told.

    Law B7. Order of arrival never matters, so the original may still come; the correction is kept.
#}
{% test corrections_have_an_original(model, corrects) %}

select
    correction.bk,
    correction.{{ corrects }},
    correction.source_system,
    correction.source_file,
    correction.first_seen_ts,
    concat(
        'Corrects ', correction.{{ corrects }}, ', of which there is no event. Look for it in quarantine, then have ',
        correction.source_system, ' send it, or a correction with the right identity.'
    ) as problem

from {{ model }} as correction
left anti join {{ model }} as original
    on correction.{{ corrects }} = original.bk
where correction.{{ corrects }} is not null

{% endtest %}
