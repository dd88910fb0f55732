{{ ignored(
    belief=ref('account_belief'),
    types=types_declared('account', {'opened_on': 0})
) }}
