{#
    A key names one thing for ever: one entity, and whatever else `names` lists. No row lacks one.

    On a journal of a dimension it says so of every key that was ever given (`only` picks its rows);
    on the dimension, with `once`, that no two rows share one.
#}
{% test keys_are_not_recycled(model, row_key='version_sk', names=['bk', 'effective_from'], once=false, only='true') %}

select
    {{ row_key }},
    things,
    case
        when {{ row_key }} is null
            then 'Has no key. Build this table again with --full-refresh.'
        when things > 1
            then concat('Names ', things, ' things, told apart by {{ names | join(", ") | replace("'", "") }}. A key is never given again: find out who wrote it.')
        else concat('Is the key of ', copies, ' rows. Build this table again with --full-refresh.')
    end as problem

from (
    select
        {{ row_key }},
        count(distinct struct({{ names | join(', ') }})) as things,
        count(*) as copies

    from {{ model }}
    where {{ only }}
    group by {{ row_key }}
)
where {{ row_key }} is null
    or things > 1
    {%- if once %}
    or copies > 1
    {%- endif %}

{% endtest %}
