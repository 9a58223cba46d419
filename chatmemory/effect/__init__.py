"""The kernel: effects, services, layers, in Python's own manners on ``returns`` and ``anyio``."""
