-- The package completes each assertion's state: see `through` in dbt_project.yml.
select * from {{ with_news(ref('payment_interpretation_ordered')) }}
