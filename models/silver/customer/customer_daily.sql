{{ daily(
    days=ref('customer_days'),
    marks=ref('marks'),
    assertions=ref('customer_states'),
    belief=ref('customer_belief'),
    repaired=belief_for('customer', asked='repairs', assertions=ref('customer_states')),
    attributes=attributes_of('customer')
) }}
