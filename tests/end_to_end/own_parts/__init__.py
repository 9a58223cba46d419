"""A stranger's package: a backend, a strategy, a skill and a clock of their own, written against the public contracts."""
