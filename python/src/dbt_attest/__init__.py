"""The dbt plugin: dbt finds this module by its name and its `plugins`, in every command."""

from __future__ import annotations

from dbt.plugins.manager import dbtPlugin


class AttestPlugin(dbtPlugin):  # type: ignore[misc]
    """Makes dbt-spark's session method right; see `attest.adapter`."""

    def initialize(self) -> None:
        # Only here, because every dbt command imports this module, also those without an adapter.
        from attest.adapter import adopt  # noqa: PLC0415

        adopt()


plugins = [AttestPlugin]
