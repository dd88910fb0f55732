{#
    The journal that is being added to, cut down to the keys that have news; none before its first build.
#}
{% macro told_by_now() -%}
{%- if load_cached_relation(this) -%}
{{ attest.with_news(this) }}
{%- endif -%}
{%- endmacro %}
