"""Effects under way in tasks of their own: what ``fork`` and ``race`` run on.  It knows an effect by ``Runs`` only."""
