"""Values that fibers share: ``Ref``, ``Deferred``, ``Queue`` and ``Semaphore``.

Each value belongs to one event loop.  It needs no event loop as long as nothing has to wait.
"""
