{#
    What was said of attributes that keep their first value, and therefore is not in the dimension.

    One row an entity, attribute and interval of belief in which it had another value, or none.
#}
{% macro ignored(belief, types) -%}

{%- for attribute in attest.attributes_shown(types, ['original']).split() %}
select
    sk,
    bk,
    '{{ attribute }}' as attribute,
    effective_from,
    effective_to,
    cast(original as string) as original_value,
    cast({{ attribute }} as string) as ignored_value,
    {{ attribute }}_source as source_system,
    {{ attribute }}_assertion as assertion_id

from (
    select
        *,
        first_value({{ attribute }}, true) over whole as original,
        first_value(if({{ attribute }} is null, null, effective_from), true) over whole as original_from

    from {{ belief }}
    where not is_deleted
        and is_anything_believed
    window whole as (
        partition by bk order by effective_from
        rows between unbounded preceding and unbounded following
    )
)
where effective_from > original_from
    and not {{ attribute }} <=> original
{{ 'union all' if not loop.last }}
{%- endfor %}

{%- endmacro %}
