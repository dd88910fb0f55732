{#
    What is new in the audit of the facts' keys: one entry a fact that was loaded, or whose version keys changed since.

    A fact is told of at its load, with the keys that it snapshots; whatever restates one of them adds an entry.
#}
{% macro keys_given(facts, journal, run) -%}

select
    bk,
    {{ attest.entry_id('event_hash') }} as audit_id,
    event_hash,
    entry,
    change_type,
    changed_columns,
    old_values,
    new_values,
    {{ attest.quoted(run) }} as run,
    current_timestamp() as recorded_at

from ({{ attest.differing(facts, 'event_hash', journal) | indent(4) }})

{%- endmacro %}
