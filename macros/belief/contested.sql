{#
    What is heard on lines of time on which some attribute must be decided by a contest.

    By rule, for the attributes that the period names; for an entity of which a decision
    expires, for all of them. Where there is neither nothing is read.
#}
{% macro contested(spoken, periods, lines=none) -%}
(
    {{ attest.hear(
        attest.those(spoken, 'left anti join ' ~ attest.expiring(spoken) ~ ' using (bk)'),
        attest.those(periods, 'where size(contested) > 0'),
        lines
    ) | indent(4) }}

    union all

    select
        * except (contested),
        cast(null as array<string>) as contested

    from (
        {{ attest.hear(
            attest.those(spoken, 'left semi join ' ~ attest.expiring(spoken) ~ ' using (bk)'),
            periods,
            lines
        ) | indent(8) }}
    )
)
{%- endmacro %}


{% macro expiring(spoken) -%}
(
    select distinct ending.bk

    from {{ spoken }} as ending
    where ending.expires_at is not null
)
{%- endmacro %}


{% macro those(rows, restriction) -%}
(
    select *

    from {{ rows }}
    {{ restriction }}
)
{%- endmacro %}
