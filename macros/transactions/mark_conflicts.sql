{#
    Flag the events that claim one identity and differ: both are kept, and neither is believed over the other.

    An event that corrects its own identity says why it differs, so it is in no conflict.
#}
{% macro mark_conflicts(events, corrects) -%}

select
    *,
    not is_correction and count_if(not is_correction) over (partition by bk) > 1 as is_conflicting

from (
    select
        *,
        told['{{ corrects }}'] <=> {{ attest.canonical('bk') }} as is_correction

    from {{ events }}
) as told_events

{%- endmacro %}
