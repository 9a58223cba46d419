"""The HTTP API and the page: ``app.application`` makes both from a layer of services; ``chatmemory serve`` wires it.

One way through: ``app`` (routes, and the ``guards`` around them) -> ``reading`` (a request becomes a ``Call``) -> a handler
of ``operations``, which is a function from the call to an effect -> ``answering`` (what it succeeds or fails with becomes
a response).
"""
