{#
    One row an assertion: of its copies, the one that stands for it.

    Law E1: that is the one that arrived first, then by file, then by run; then by what else it
    says, so that which was landed first decides nothing (law E5). `sightings` tell of which
    entities anything was told twice; the others are passed through.
#}
{% macro first_copies(arrivals, sightings=none) -%}
{%- if sightings is none -%}
{{ attest.first_of_each(attest.not_rejected(arrivals)) }}
{%- else -%}
{{ attest.not_rejected(arrivals, 'left anti join ' ~ sightings ~ ' using (bk)') }}

union all

select *

from (
    {{ attest.first_of_each(attest.not_rejected(arrivals, 'left semi join ' ~ sightings ~ ' using (bk)')) | indent(4) }}
) as told_often
{%- endif %}
{%- endmacro %}


{% macro first_of_each(arrivals) -%}
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
        {{ arrivals | indent(8) }}
        distribute by bk
    )
) as copies
where copy = 1
{%- endmacro %}


{# Law B9: what the gate rejected is evidence and no more. #}
{% macro not_rejected(arrivals, joined='') -%}
select *

from {{ arrivals }}
{%- if joined %}
{{ joined }}
{%- endif %}
where verdict <> 'REJECT_FOR_AUTHORITATIVE_BRONZE'
{%- endmacro %}
