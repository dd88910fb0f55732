from attest.news import with_news
from attest.states import whole_states


def model(dbt, session):
    dbt.config(materialized="replace_by_key")
    return whole_states(with_news(session, dbt.ref("customer_ordered")))
