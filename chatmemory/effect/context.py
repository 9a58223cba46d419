"""``Context``: the provided services, an immutable map from tag to service.

``key.py`` defines what names a service, ``layers/layer.py`` how services are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Never, cast, final

from attrs import define, field
from typing_extensions import TypeVar

from chatmemory.effect.checks import no_tag, require_tag
from chatmemory.effect.key import MissingServiceError, TagOf, short_name

S = TypeVar("S")
Id = TypeVar("Id")
R2 = TypeVar("R2")
R_contra = TypeVar("R_contra", contravariant=True)


@final
@define(repr=False)
class Context(Generic[R_contra]):
    """An immutable map from tag to service, in order of insertion; ``services`` is keyed by the tags' keys.

    Contravariant: a context that offers more can be used where less is asked for.
    """

    services: Mapping[str, Any] = field(factory=dict[str, Any])

    @staticmethod
    def empty() -> Context[Never]:
        """Return a context without services; only references have their defaults."""
        return _EMPTY

    @staticmethod
    def of(tag: TagOf[Id, S], service: S) -> Context[Id]:
        """Return a context with one service."""
        require_tag(tag)
        return Context({tag.key: service})

    def get(self, tag: TagOf[R_contra, S]) -> S:
        """Return the service of *tag*, or the default of a reference.

        Raises:
            MissingServiceError: both are missing.
            TypeError: *tag* is not a tag; it may be the class of a service.
        """
        try:
            return cast("S", self.services[tag.key])
        except KeyError:
            pass
        except AttributeError:
            raise no_tag(tag) from None
        if tag.has_default:
            return tag.fallback()
        raise MissingServiceError(tag.key, available=self.services)

    def add(self, tag: TagOf[Id, S], service: S) -> Context[R_contra | Id]:
        """Return a context that also has *service* under *tag*; a tag that is replaced keeps its place in the order."""
        try:
            key = tag.key
        except AttributeError:
            raise no_tag(tag) from None
        return Context({**self.services, key: service})

    def merge(self, other: Context[R2]) -> Context[R_contra | R2]:
        """Return a context with the services of both; where both have one, the service of *other* is used."""
        if not other.services:
            return cast("Context[R_contra | R2]", self)
        if not self.services:
            return cast("Context[R_contra | R2]", other)
        return Context({**self.services, **other.services})

    def __contains__(self, tag: TagOf[Any, Any]) -> bool:
        return tag.key in self.services

    def __iter__(self) -> Iterator[str]:
        return iter(self.services)

    def __len__(self) -> int:
        return len(self.services)

    def __repr__(self) -> str:
        return f"Context({', '.join(map(short_name, self.services))})"


_EMPTY: Context[Never] = Context()
