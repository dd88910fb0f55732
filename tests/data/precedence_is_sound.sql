{%- set filled_in = [
    'entity', 'attribute_group', 'source_system', 'rank', 'rule', 'effective_from', 'known_from',
    'requested_by', 'approved_by', 'reason',
] -%}
-- The rows of seeds/precedence.csv that cannot stand, each with what is wrong and what to do.
--
--     CRM   |--- rank 1 ---[--- rank 3 --- …    a source's rows: no gap, no overlap, on either clock
--     CORE  |--- rank 2 ------------------ …    a group's sources: no shared rank, one kind of rule

with rules as (

    select
        *,
        coalesce(effective_to, timestamp '9999-12-31 23:59:59') as effective_until,
        coalesce(known_to, timestamp '9999-12-31 23:59:59') as known_until,
        row_number() over (
            partition by entity, attribute_group
            order by source_system, known_from, effective_from, rank, rule, reason
        ) as place

    from {{ ref('precedence') }}

),

-- Each row with the others of its source and group, and with the earlier rows of its group that
-- hold at some instant that it holds at, on both clocks.
neighbours as (

    select
        this.*,
        filter(of_group, other -> other.source_system = this.source_system and other.place <> this.place) as own,
        filter(
            of_group,
            other -> other.place < this.place
                and other.effective_from < this.effective_until and this.effective_from < other.effective_until
                and other.known_from < this.known_until and this.known_from < other.known_until
        ) as met

    from (
        select
            explode(of_group) as this,
            of_group

        from (
            select collect_list(struct(*)) as of_group

            from rules
            group by entity, attribute_group
        )
    )

),

problems as (

    select
        neighbours.*,
        explode(array_compact(array(
            {%- for column in filled_in %}
            case
                when coalesce(trim(cast({{ column }} as string)), '') = ''
                    then '{{ column }} is empty. Fill it in; only effective_to and known_to may be empty.'
            end,
            {%- endfor %}
            case
                when entity not in ('{{ var("entities") | join("', '") }}')
                    then concat('No entity is called ', entity, '. There are: {{ var("entities") | join(", ") }}.')
                when not array_contains(
                    (select collect_set(struct(entity, attribute_group)) from {{ ref('attribute_groups') }}),
                    struct(entity, attribute_group)
                )
                    then concat(
                        'No attribute is in group ', attribute_group, ', so this decides nothing. ',
                        'Correct the group, or add it to attribute_groups.csv.'
                    )
            end,
            case
                when rule not in ('highest_rank', 'most_recent')
                    then concat('No rule is called ', rule, '. Use highest_rank or most_recent.')
            end,
            case
                when source_system <> trim(source_system)
                    then 'source_system begins or ends with a space, so it matches no evidence. Remove the space.'
            end,
            case
                when lower(trim(requested_by)) = lower(trim(approved_by))
                    then concat('Asked for and approved by the same person, ', approved_by, '. Have someone else approve it.')
            end,
            case
                when effective_to <= effective_from
                    then 'Never in force: effective_to is not after effective_from. Correct them; to withdraw a row, close known_to.'
            end,
            case
                when known_to <= known_from
                    then 'Was never known: known_to is not after known_from. Correct them.'
            end,
            -- Without such a row there is no text: concat() of a null is null.
            concat(
                'Overlaps the row in force from ',
                get(filter(met, other -> other.source_system = source_system), 0).effective_from,
                ', known from ',
                get(filter(met, other -> other.source_system = source_system), 0).known_from,
                '. End one where the other begins.'
            ),
            concat(
                'Shares rank ', rank, ' with ',
                get(filter(met, other -> other.source_system <> source_system and other.rank = rank), 0).source_system,
                '. Give each source of the group its own.'
            ),
            concat(
                'Is ', rule, ' while ',
                get(filter(met, other -> other.source_system <> source_system and other.rule <> rule), 0).source_system,
                ' is not. Use one rule for all of the group.'
            )
            {%- for clock, other_clock in [('effective', 'known'), ('known', 'effective')] %},
            -- A gap: at some moment on the other clock, nothing follows this row, yet something comes later.
            case
                when exists(
                    flatten(array(
                        array({{ other_clock }}_from),
                        transform(own, other -> other.{{ other_clock }}_from),
                        transform(own, other -> other.{{ other_clock }}_until)
                    )),
                    moment -> {{ other_clock }}_from <= moment and moment < {{ other_clock }}_until
                        and not exists(
                            own,
                            other -> other.{{ clock }}_from <= {{ clock }}_to and {{ clock }}_to < other.{{ clock }}_until
                                and other.{{ other_clock }}_from <= moment and moment < other.{{ other_clock }}_until
                        )
                        and exists(
                            own,
                            other -> other.{{ clock }}_from > {{ clock }}_to
                                and other.{{ other_clock }}_from <= moment and moment < other.{{ other_clock }}_until
                        )
                )
                    then concat(
                        'Leaves a gap at {{ clock }}_to, ', {{ clock }}_to, ', before the next row of ', source_system,
                        '. Have that one begin where this ends.'
                    )
            end
            {%- endfor %}
        ))) as problem

    from neighbours

)

select
    entity,
    attribute_group,
    source_system,
    rank,
    rule,
    effective_from,
    effective_to,
    known_from,
    known_to,
    problem

from problems
