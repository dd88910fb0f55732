select *

from {{ ref('dim_account') }}
where current_flag
