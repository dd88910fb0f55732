{#
    One row an assertion and period of knowledge in which it counted: the states, and for entities that marks
    concerned what they made of them before. Without `worlds` nothing was ever marked.
#}
{% macro as_known(states, worlds=none) -%}

select
    {{ attest.known_columns() | indent(4) }},
    known_until

from {{ states }}{{ ' as held' if worlds }}
{%- if worlds %}
left anti join {{ worlds }} as lived
    on held.bk = lived.bk

union all

select
    {{ attest.known_columns() | indent(4) }},
    known_until

from {{ worlds }}
{%- endif %}

{%- endmacro %}
