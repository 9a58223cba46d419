"""The guards of the door, each an ASGI application around another: what a request must be before anybody reads it.

``app`` puts them around the operations.  A guard knows nothing of what it guards, so other programs use them too.
"""
