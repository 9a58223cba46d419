"""``Delegating``: the base class of a service that wraps another service of the same contract."""

from __future__ import annotations

from typing import Any, Generic, Never, cast

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf
from chatmemory.effect.layer import Layer

__all__ = ["Delegating"]

Id = TypeVar("Id")
S = TypeVar("S")


class Delegating(Generic[S]):
    """Wraps a service: what the class does not define itself is a member of ``inner``.

        class Printing(Delegating[MessageRepository]):
            def append(self, batch: Append, /) -> Effect[Appended, AppendError]:
                print(batch.conversation_id)
                return self.inner.append(batch)

        stack = stacks.embedded("agent.db").replace(Printing.around(MessageRepositoryTag))

    Attributes:
        inner: the wrapped service.
    """

    inner: S

    def __init__(self, inner: S) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # it is looked for before it is set, as by copy
            raise AttributeError(name)
        return getattr(self.inner, name)

    @classmethod
    def around(cls, tag: TagOf[Id, S]) -> Layer[Id, Never, Id]:
        """Return a layer that wraps the service of *tag*, for ``stack.replace``."""
        # It has every member of the service, but a type checker cannot see that.
        return Layer.effect(tag, Effect.service(tag).map(lambda inner: cast("S", cls(inner))), needs=[tag])
