{{ ordered(arrivals=ref('customer_assertions')) }}
