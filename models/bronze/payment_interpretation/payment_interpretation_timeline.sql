{{ timeline(
    entity='payment_interpretation',
    states=ref('payment_interpretation_states'),
    sightings=ref('payment_interpretation_sightings'),
    attributes=attributes_of('payment_interpretation')
) }}
