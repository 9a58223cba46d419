"""What fibers share: ``Ref``, ``Deferred``, ``Queue`` and ``Semaphore``.

Each belongs to one event loop.  It needs none as long as nothing has to wait.
"""
