{#
    Whether a mark speaks of a row of evidence, as the text of a condition.

    A mark names a partition of a feed: a landing, or one file. Or it stops the feed, and
    then it speaks of all that was recorded since.
#}
{% macro covers(mark, log) -%}
{{ log }}.feed = {{ mark }}.feed
and ({{ mark }}.partition in ({{ log }}.landing_id, {{ log }}.source_path) or {{ log }}.recorded_at >= {{ mark }}.since)
{%- endmacro %}


{# A snapshot is one landing, so no file of it is marked by itself. #}
{% macro covers_snapshot(mark, snapshot) -%}
{{ snapshot }}.feed = {{ mark }}.feed
and ({{ snapshot }}.landing_id = {{ mark }}.partition or {{ snapshot }}.recorded_at >= {{ mark }}.since)
{%- endmacro %}
