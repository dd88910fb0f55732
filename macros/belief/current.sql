{#
    Of what is believed at the build's basis instant: live entities of which anything is believed.
#}
{% macro current(audited) -%}

select * except (is_anything_believed, known_at)

from {{ audited }}
where not is_deleted
    and is_anything_believed

{%- endmacro %}
