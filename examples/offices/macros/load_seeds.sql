{#
    Seeds are loaded attest's way: in one commit, and only when their file changed.

    dbt takes a package's way to materialize a seed only where the project itself names it.
#}
{% materialization seed, adapter='spark' %}{{ return(attest.materialization_seed_spark()) }}{% endmaterialization %}
