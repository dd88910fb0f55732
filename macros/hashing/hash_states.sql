{#
    Hash each whole state.

    Law B5: attr_hash covers the state and the delete flag and nothing of provenance. All
    evidence of an entity is hashed under one version, so raising it opens none: version 1
    leaves unknown attributes out (section 6.6.2, strategy A); from 2 on, the hash covers its
    own version and says of every declared attribute what is known (strategy B).
#}
{% macro hash_states(states, attributes, hash_version=1) -%}

select
    *,
    {{ hash_version }} as hash_version,
    sha2(concat(
        {%- if hash_version > 1 %}
        {{ attest.encode("'" ~ hash_version ~ "'") }},
        {%- for attribute in attributes | sort %}
        if(map_contains_key(state, '{{ attribute }}'), '=', '?'),
        {%- endfor %}
        {%- endif %}
        {{ attest.encode('cast(is_deleted as string)') }},
        {{ attest.encode_map('state', attributes) | indent(8) }}
    ), 256) as attr_hash

from {{ states }}

{%- endmacro %}
