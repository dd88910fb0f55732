select *

from {{ ref('dim_customer') }}
where current_flag
