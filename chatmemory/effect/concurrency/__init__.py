"""What fibers share: ``Ref``, ``Deferred``, ``Queue`` and ``Semaphore``.

Each belongs to one event loop, and needs none as long as nobody has to wait.
"""
