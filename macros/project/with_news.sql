{#
    A relation cut down to the keys that have news.

    Only for models of a materialization that finds news: it puts the keys in the view
    `news`, and takes the join out again where the whole table is built.
#}
{% macro with_news(relation) -%}
{%- if flags.WHICH == 'show' or model.resource_type == 'unit_test' -%}
{{ relation }}
{%- else -%}
(select * from {{ relation }}{{ attest.only_news(config.require('key')) }})
{%- endif -%}
{%- endmacro %}


{% macro only_news(key) %} left semi join news using ({{ key }}){% endmacro %}
