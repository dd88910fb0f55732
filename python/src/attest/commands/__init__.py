"""What each command does: `attest land` is `land.run`, and so on; `attest.cli` says how they are called."""
