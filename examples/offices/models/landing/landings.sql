{{ attest.landed([ref('landing_offices')]) }}
