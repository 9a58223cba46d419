"""Effects that run in tasks of their own, as ``fork`` and ``race`` need them.  It knows an effect only as ``Runs``."""
