"""``header_values``: what a client sent under a name.

starlette's ``Headers`` costs 2 us for each name that is asked for, and a request is asked for ten.
"""

from typing import TypeAlias

from starlette.types import Scope

HeaderName: TypeAlias = bytes
"""In small letters, as ASGI gives the names."""


def header_values(scope: Scope, name: HeaderName) -> list[str]:
    """Return the values of all headers with *name*, in the order in which they were sent."""
    return [value.decode("latin-1") for sent, value in scope["headers"] if sent == name]


def header_value(scope: Scope, name: HeaderName) -> str | None:
    """Return the value of the one header with *name*; None: there is none, or there are several, and none is believed."""
    values = header_values(scope, name)
    return values[0] if len(values) == 1 else None
