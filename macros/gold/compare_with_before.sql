{#
    Each live interval beside the one before it: whether the entity is known anew, and which values changed.

    Law C3: a gap makes what follows it new, even with the same values. The first of an
    entity is known anew and changes everything.
#}
{% macro compare_with_before(intervals, versioned, outrigger) -%}

select
    *,
    not effective_from <=> lag(effective_to) over in_time as is_known_anew,
    lag(bk) over in_time is null as is_first,
    lag(ending) over in_time as ending_before,
    struct(
        {%- for attribute in (versioned + outrigger) | unique %}
        not {{ attribute }} <=> lag({{ attribute }}) over in_time as {{ attribute }},
        {%- endfor %}
        true as anything
    ) as changes,
    struct(
        {%- for attribute in versioned %}
        lag({{ attribute }}) over in_time as {{ attribute }},
        {%- endfor %}
        true as anything
    ) as before

from {{ intervals }}
where not is_deleted
    and is_anything_believed
window in_time as (partition by bk order by effective_from)

{%- endmacro %}


{# Whether an interval begins a version that these attributes open. #}
{% macro starts_anew(attributes) -%}
is_known_anew{% for attribute in attributes %} or changes.{{ attribute }}{% endfor %}
{%- endmacro %}
