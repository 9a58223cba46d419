"""The errors in a graph of layers: defects of the wiring, raised before anything is acquired.

``MissingServiceError`` is defined in ``key.py``, because an effect can raise it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatmemory.effect.key import short_name
from chatmemory.effect.likeness import did_you_mean


class LayerCycleError(RuntimeError):
    """A layer needs itself, directly or through other layers."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"dependency cycle: {' -> '.join(names)}: let one of them not need the next, "
            "or give what both need by a third layer"
        )


class AmbiguousServiceError(RuntimeError):
    """Two layers give the same service, and neither is named as the replacement of the other."""


class ShadowedServiceError(RuntimeError):
    """A layer is unused, because the stack that it is combined with has its own layer for the same service."""

    @classmethod
    def merged(cls, key: str, *, consumer: str) -> ShadowedServiceError:
        """Return the error for a layer on the right of ``|`` that does not reach *consumer*, which the left side feeds."""
        name = short_name(key)
        return cls(
            f"{name} on the right of | does not reach layer {consumer} on the left, which is fed with another {name}: "
            "write stack.replace(fake), not stack | fake"
        )

    @classmethod
    def fed(cls, key: str) -> ShadowedServiceError:
        """Return the error for a service that is fed but not used, because the consumer gives it itself."""
        name = short_name(key)
        return cls(
            f"{name} is fed to layers that have a {name} of their own and take none from outside: "
            "to replace theirs, write stack.replace(fake), not fake >> stack; otherwise leave it out"
        )


class UnknownReplacementError(LookupError):
    """A replacement gives services that no layer in the graph gives, so it would replace nothing."""

    def __init__(self, keys: Iterable[str], *, available: Iterable[str]) -> None:
        self.keys = tuple(keys)
        self.available = tuple(available)
        names = ", ".join(map(short_name, self.keys))
        offer = ", ".join(sorted(map(short_name, self.available))) or "nothing"
        like = did_you_mean(short_name(self.keys[0]), map(short_name, self.available)) if self.keys else ""
        super().__init__(
            f"{names} cannot be replaced, because nothing here gives it{like}; what is given here: {offer}; "
            "to add a service, write stack | layer"
        )
