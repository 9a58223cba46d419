"""The HTTP API and the page: ``app.application`` makes both from a runtime of services; ``chatmemory serve`` starts it.

A request goes through ``app`` (the routes, and the ``guards`` around them), then ``answering`` (the request becomes a
``Call``), then a handler of ``operations``, which is a function from the call to an effect.  ``answering`` makes a response
of the outcome.
"""
