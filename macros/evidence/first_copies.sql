{#
    One row an assertion: of its copies, the one that stands for it.

    Law E1: that is the one that arrived first, then by file, then by run; then by what else it
    says, so that which was landed first decides nothing (law E5). Law B9: what the gate rejected is evidence and no more.
#}
{% macro first_copies(arrivals) -%}

select * except (copy)

from (
    select
        *,
        row_number() over (
            partition by bk, assertion_id
            order by
                ingest_ts,
                source_file nulls last,
                ingest_run_id nulls last,
                coalesce(precedence_rank, 0),
                load_type nulls last,
                feed,
                source_record,
                source_path,
                landing_id
        ) as copy

    from (
        -- One shuffle serves all that follows: copies, order and states are within an entity.
        select *

        from {{ arrivals | indent(8) }}
        where verdict <> 'REJECT_FOR_AUTHORITATIVE_BRONZE'
        distribute by bk
    )
) as copies
where copy = 1

{%- endmacro %}
