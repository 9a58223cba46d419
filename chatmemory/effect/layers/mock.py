"""``Mock``: a service with only the members that a test needs.  ``Layer.mock`` gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Never, final

__all__ = ["Mock", "UnimplementedError"]


class UnimplementedError(NotImplementedError):
    """A test called a member that the mock does not have: a defect of the test."""


@final
class Mock:
    """A service that has only *members*; calling another one raises ``UnimplementedError``."""

    def __init__(self, name: str, members: Mapping[str, object]) -> None:
        self._name = name
        self.__dict__.update(members)

    def __getattr__(self, member: str) -> Callable[..., Never]:
        if member.startswith("__"):  # Python looks these up, and expects AttributeError for a missing one
            raise AttributeError(member)

        def unimplemented(*_: object, **__: object) -> Never:
            raise UnimplementedError(f"{self._name}.{member} is not implemented: give it to Layer.mock")

        return unimplemented
