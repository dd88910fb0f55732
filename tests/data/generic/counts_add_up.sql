{#
    What each run of a strategy counted adds up to the records of its slice.

    Of the runs that the ledger has, so of all but the one under way; rows that were only inferred to
    be gone are no records.
#}
{% test counts_add_up(model) %}

{%- set ledger = load_cached_relation(api.Relation.create(schema=target.schema, identifier='runs')) %}

select
    recorded_at,
    node,
    counts,
    'CountsDifferError: the parts are not the records of the slice. Look whether rows of its table stand twice.' as problem

from {{ ledger if ledger is not none else "values (null, '', '', map('', 0)) as runs (recorded_at, node, materialized, counts)" }}
where node = '{{ model.identifier }}'
    and case materialized
        when 'merge' then
            counts['inserted'] + counts['updated'] + counts['deleted'] <> counts['records']
            or counts['touched'] > counts['updated']
        when 'historic' then counts['inserted'] + counts['updated'] + counts['unchanged'] <> counts['records']
    end

{% endtest %}
