{#
    A canonical value as a column of its type: the way back from canonical().

    An attribute whose type changed keeps the one that its evidence is written in and says how
    it is read: `string as decimal(18, 2)`. No hash changes; what cannot be read so is null.
#}
{% macro typed(canonical, type='string') -%}
{%- set written, _, read = type.partition(' as ') -%}
{%- set value = "substring(" ~ canonical ~ ", 2, length(" ~ canonical ~ ") - 2)" if written == 'string' else canonical -%}
{%- if read -%}
try_cast({{ value }} as {{ read }})
{%- elif written == 'string' -%}
{{ value }}
{%- else -%}
cast({{ value }} as {{ written }})
{%- endif -%}
{%- endmacro %}
