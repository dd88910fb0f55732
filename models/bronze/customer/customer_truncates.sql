{{ truncates([ref('landing_core_customers')]) }}
