{#
    The audit played back, entry by entry, is the dimension: no change is missing, and none is told twice.
#}
{% test audit_replays(model, dimension) %}

with played_back as (

    {{ attest.replayed(model, 'version_sk') | indent(4) }}

),

there as (

    {{ attest.image_of(dimension, 'version_sk') | indent(4) }}

)

select
    coalesce(played_back.bk, there.bk) as bk,
    coalesce(played_back.version_sk, there.version_sk) as version_sk,
    case
        when there.held is null
            then 'The audit tells of a version that the dimension does not have. '
        when played_back.held is null
            then 'The dimension has a version that the audit does not tell of. '
        else 'The audit tells another version than the dimension has. '
    end
    || 'Build the audit again; if the row stays, somebody wrote to one of the two beside the build.' as problem

from played_back
full outer join there
    on played_back.version_sk = there.version_sk
where exists(
    array_union(coalesce(map_keys(played_back.held), array()), coalesce(map_keys(there.held), array())),
    name -> not played_back.held[name] <=> there.held[name]
)

{% endtest %}
