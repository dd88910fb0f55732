{%- set filled_in = [
    'entity', 'attribute_group', 'rule', 'effective_from', 'known_from', 'requested_by', 'approved_by', 'reason',
] -%}
{%- set kinds = [
    'highest_rank', 'most_recent', 'most_recent_change', 'escalate_only', 'quorum', 'longest', 'largest', 'coupled_to',
] -%}
{#- Columns that mean something under one kind of rule alone. -#}
{%- set terms = {'coupled_to': 'coupled_to', 'severity_order': 'escalate_only', 'may_clear': 'escalate_only', 'quorum': 'quorum'} -%}
-- The rows of seeds/precedence.csv that cannot stand, each with what is wrong and what to do.
--
--     CRM   |--- rank 1 ---[--- rank 3 --- …    a source's rows: no gap, no overlap, on either clock
--     CORE  |--- rank 2 ------------------ …    a group's sources: no shared rank, one kind of rule

with leads as (

    select
        entity,
        attribute_group,
        count(*) as attributes

    from {{ ref('attribute_groups') }}
    group by entity, attribute_group

),

followers as (

    select distinct
        entity,
        attribute_group

    from {{ ref('precedence') }}
    where rule = 'coupled_to'

),

rules as (

    select
        rule.*,
        coalesce(lead.attributes, 0) as lead_attributes,
        lead.entity is not null and coupled.entity is not null as lead_is_coupled,
        coalesce(effective_to, timestamp '9999-12-31 23:59:59') as effective_until,
        coalesce(known_to, timestamp '9999-12-31 23:59:59') as known_until,
        row_number() over (
            partition by rule.entity, rule.attribute_group
            order by source_system, known_from, effective_from, rank, rule, reason
        ) as place

    from {{ ref('precedence') }} as rule
    left join leads as lead
        on rule.entity = lead.entity and rule.coupled_to = lead.attribute_group
    left join followers as coupled
        on rule.entity = coupled.entity and rule.coupled_to = coupled.attribute_group

),

-- Each row with the others of its source and group, and with the earlier rows of its group that
-- hold at some instant that it holds at, on both clocks.
neighbours as (

    select
        this.*,
        filter(of_group, other -> other.source_system <=> this.source_system and other.place <> this.place) as own,
        filter(
            of_group,
            other -> other.place < this.place
                and other.effective_from < this.effective_until and this.effective_from < other.effective_until
                and other.known_from < this.known_until and this.known_from < other.known_until
        ) as met,
        size(array_distinct(transform(
            filter(
                of_group,
                other -> other.effective_from < this.effective_until and this.effective_from < other.effective_until
                    and other.known_from < this.known_until and this.known_from < other.known_until
            ),
            other -> other.source_system
        ))) as listed_beside

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
                    then '{{ column }} is empty. Fill it in.'
            end,
            {%- endfor %}
            {%- for column in ['source_system', 'rank'] %}
            case
                when rule = 'coupled_to' and {{ column }} is not null
                    then '{{ column }} means nothing under coupled_to, which takes whoever won the other group. Leave it empty.'
                when rule <> 'coupled_to' and coalesce(trim(cast({{ column }} as string)), '') = ''
                    then '{{ column }} is empty. Fill it in.'
            end,
            {%- endfor %}
            {%- for column, kind in terms.items() %}
            case
                when rule <> '{{ kind }}' and {{ column }} is not null
                    then concat('{{ column }} means nothing under ', rule, ', only under {{ kind }}. Leave it empty.')
                {%- if column != 'may_clear' %}
                when rule = '{{ kind }}' and {{ column }} is null
                    then '{{ column }} is empty, and {{ kind }} needs it. Fill it in.'
                {%- endif %}
            end,
            {%- endfor %}
            case
                when rule = 'coupled_to' and coupled_to = attribute_group
                    then 'Is coupled to itself. Name the group whose winner it is to follow.'
                when rule = 'coupled_to' and lead_attributes <> 1
                    then concat(
                        coupled_to, ' has ', lead_attributes,
                        ' attributes, so it has no one winner to follow. Name a group of one attribute.'
                    )
                when rule = 'coupled_to' and lead_is_coupled
                    then concat(coupled_to, ' is coupled itself. Name the group that it follows.')
            end,
            case
                when rule = 'escalate_only' and size(split(severity_order, ' < ')) < 2
                    then 'severity_order has no two values. Write them from least to most severe, as in Clear < Watch < Sanctioned.'
                when rule = 'escalate_only' and size(array_distinct(split(severity_order, ' < '))) < size(split(severity_order, ' < '))
                    then 'severity_order has a value twice. Write each once.'
            end,
            -- The other sources of its group, to say the same of what they share.
            {%- for column in ['severity_order', 'quorum'] %}
            concat(
                'Has another {{ column }} than ',
                get(filter(met, other -> other.source_system <> source_system and not other.{{ column }} <=> {{ column }}), 0).source_system,
                '. Use one for all of the group.'
            ),
            {%- endfor %}
            case
                when rule = 'quorum' and quorum < 1
                    then 'quorum is less than 1, so anything would do. Say how many sources must agree.'
                when rule = 'quorum' and quorum > listed_beside
                    then concat('Can never be settled: ', quorum, ' sources must agree, and ', listed_beside, ' are listed. Lower it, or list more.')
            end,
            case
                when freshness_limit is not null and not freshness_limit rlike '^[1-9][0-9]{0,4} (days|hours)$'
                    then concat('freshness_limit is ', freshness_limit, '. Write it like 90 days or 12 hours, or leave it empty.')
                when freshness_limit is not null and rule = 'coupled_to'
                    then 'freshness_limit means nothing under coupled_to; give it to the group that leads.'
            end,
            case
                when clock is not null and clock <> 'arrival'
                    then concat('clock is ', clock, '. Write arrival to believe a source that has no source time, or leave it empty.')
            end,
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
                when rule not in ('{{ kinds | join("', '") }}')
                    then concat('No rule is called ', rule, '. There are: {{ kinds | join(", ") }}.')
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
                get(filter(met, other -> other.source_system <=> source_system), 0).effective_from,
                ', known from ',
                get(filter(met, other -> other.source_system <=> source_system), 0).known_from,
                '. End one where the other begins.'
            ),
            concat(
                'Shares rank ', rank, ' with ',
                get(filter(met, other -> other.source_system <> source_system and other.rank = rank), 0).source_system,
                '. Give each source of the group its own.'
            ),
            concat(
                'Is ', rule, ' while ',
                get(filter(met, other -> other.rule <> rule), 0).rule,
                ' decides another row of the group at one time. Use one kind for all of it.'
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
