"""``Context``: the services at hand, an immutable map from tag to service.

What names a service is defined in ``key.py``; how services are made, in ``layers/layer.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Never, cast, final

from typing_extensions import TypeVar

from chatmemory.effect.checks.mistakes import no_tag, require_tag
from chatmemory.effect.family import Family
from chatmemory.effect.key import MissingServiceError, TagOf, short_name

__all__ = ["Context", "MissingServiceError", "TagOf"]

S = TypeVar("S")
Fallback = TypeVar("Fallback")
Id = TypeVar("Id")
R2 = TypeVar("R2")
R_contra = TypeVar("R_contra", contravariant=True)


@final
class Context(Generic[R_contra]):
    """An immutable map from tag to service, in order of insertion; ``services`` is keyed by the tags' keys.

    Contravariant: a context that offers more serves where less is asked for.  ``family`` is that of the running effect;
    it goes along with every context that is made from this one.
    """

    __slots__ = ("family", "services")

    def __init__(self, services: Mapping[str, Any] | None = None, family: Family | None = None) -> None:
        self.services: Mapping[str, Any] = {} if services is None else services
        self.family = family

    @staticmethod
    def empty() -> Context[Never]:
        """Return the context that offers nothing but references."""
        return _EMPTY

    @staticmethod
    def of(tag: TagOf[Id, S], service: S) -> Context[Id]:
        """Return a context of one service."""
        require_tag(tag)
        return Context({tag.key: service})

    def get(self, tag: TagOf[R_contra, S]) -> S:
        """Return the service of *tag*, or the default of a reference.

        Raises:
            MissingServiceError: there is neither.
            TypeError: *tag* is no tag, but the class of a service perhaps.
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

    def get_or(self, tag: TagOf[Any, S], otherwise: Fallback) -> S | Fallback:
        """Return the service of *tag* if it is present (it may be ``None``), else *otherwise*."""
        return cast("S | Fallback", self.services.get(tag.key, otherwise))

    def add(self, tag: TagOf[Id, S], service: S) -> Context[R_contra | Id]:
        """Return a context in which *tag* is *service*; a replaced tag keeps its place in the order."""
        try:
            key = tag.key
        except AttributeError:
            raise no_tag(tag) from None
        return Context({**self.services, key: service}, self.family)

    def merge(self, other: Context[R2]) -> Context[R_contra | R2]:
        """Return the services of both; *other* wins where they meet."""
        if not other.services:
            return cast("Context[R_contra | R2]", self)
        if not self.services and self.family in {None, other.family}:
            return cast("Context[R_contra | R2]", other)
        return Context({**self.services, **other.services}, self.family or other.family)

    def pick(self, *tags: TagOf[Id, Any]) -> Context[Id]:
        """Return only the services of *tags*; an absent one stays absent."""
        wanted = {tag.key for tag in tags}
        return Context({key: service for key, service in self.services.items() if key in wanted}, self.family)

    def omit(self, *tags: TagOf[Any, Any]) -> Context[Any]:
        """Return all services but those of *tags*."""
        unwanted = {tag.key for tag in tags}
        return Context(
            {key: service for key, service in self.services.items() if key not in unwanted}, self.family
        )

    def __contains__(self, tag: TagOf[Any, Any]) -> bool:
        return tag.key in self.services

    def __iter__(self) -> Iterator[str]:
        return iter(self.services)

    def __len__(self) -> int:
        return len(self.services)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self.services == other.services

    __hash__ = None  # type: ignore[assignment]  # services need not be hashable

    def __repr__(self) -> str:
        return f"Context({', '.join(map(short_name, self.services))})"


_EMPTY: Context[Never] = Context()
