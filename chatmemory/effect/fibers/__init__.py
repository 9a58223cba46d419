"""Effects that run in tasks of their own, for ``fork`` and ``race``.  This package uses effects only through ``Runs``."""
