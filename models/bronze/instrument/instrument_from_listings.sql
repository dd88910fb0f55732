select
    {{ assertion_columns() | indent(4) }}

from {{ ref('instrument_changes') }}
where change <> 'delisted'
