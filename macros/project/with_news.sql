{#
    A relation cut down to the keys that have news; whole where the table is built whole.

    Only for models of a materialization that finds news: it puts the keys in the view `news`.
#}
{% macro with_news(relation) -%}

{%- if is_incremental() or config.get('materialized') == 'append_only' -%}
(select * from {{ relation }} left semi join news using ({{ config.require('key') }}))
{%- else -%}
{{ relation }}
{%- endif -%}

{%- endmacro %}
