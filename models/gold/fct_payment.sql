{% set found_by = {
    'dim_customer': 'debtor',
    'dim_account': 'debtor_account',
    'dim_compliance_threshold': 'reporting_duty',
} -%}
{{ config(found_by=found_by) }}

with payments as (

    select
        bk,
        event_hash,
        if(clock = 'source', source_event_ts, ingest_ts) as happened_at,
        ingest_ts,
        'CTR' as reporting_duty,
        debtor,
        debtor_account,
        creditor_account,
        amount,
        currency,
        value_date,
        corrects,
        is_deleted,
        is_conflicting

    from {{ with_news(ref('payment')) }}

),

by_customer as (

    {{ as_of(
        facts='payments',
        dimension=ref('dim_customer'),
        found_by=found_by['dim_customer'],
        called='customer'
    ) | indent(4) }}

),

by_account as (

    {{ as_of(
        facts='by_customer',
        dimension=ref('dim_account'),
        found_by=found_by['dim_account'],
        called='account'
    ) | indent(4) }}

),

by_threshold as (

    {{ as_of(
        facts='by_account',
        dimension=ref('dim_compliance_threshold'),
        found_by=found_by['dim_compliance_threshold'],
        called='threshold'
    ) | indent(4) }}

)

select *

from by_threshold
