"""``Member``: a method or an attribute of a contract; ``Contract.of`` reads the members from the Protocol of a tag."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast, final, get_origin, get_type_hints

from attrs import frozen

from chatmemory.effect.checks import no_member, require_tag
from chatmemory.effect.key import TagOf, interface_of, short_name

Kind: TypeAlias = Literal["effect", "stream", "coroutine", "plain", "attribute"]

_KINDS: Final[Mapping[str, Kind]] = {
    "Effect": "effect",
    "AsyncIterator": "stream",
    "AsyncIterable": "stream",
    "AsyncGenerator": "stream",
}


@final
@frozen
class Member:
    """A method or an attribute of a contract; *kind* is what a call of it returns."""

    name: str
    kind: Kind
    signature: inspect.Signature | None = None

    def bound(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of a call by name.

        Args:
            arguments: the positional arguments.
            named: the keyword arguments.

        Returns:
            the arguments by name, without ``self``; empty for an attribute.

        Raises:
            TypeError: the method does not accept these arguments.
        """
        if self.signature is None:
            return {}
        try:
            bound = self.signature.bind(None, *arguments, **named).arguments
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}; its contract is {self.name}{self.signature}") from None
        return dict(list(bound.items())[1:])  # without self


@final
@frozen
class Contract:
    """The Protocol of a service, with its members by name."""

    name: str
    members: Mapping[str, Member]

    @staticmethod
    def of(tag: TagOf[Any, Any]) -> Contract:
        """Read the contract that *tag* names: ``ChatMemory`` of ``class ChatMemoryService(Tag[ChatMemory])``.

        Raises:
            TypeError: *tag* is not a tag.
        """
        require_tag(tag)
        interface = interface_of(tag)
        if interface is None:
            return Contract(short_name(tag.key), {})
        return Contract(interface.__name__, _members(interface))

    def require(self, names: Iterable[str]) -> None:
        """Check that the contract has all of *names*.

        Raises:
            AttributeError: it lacks one; the message names the first.
        """
        for name in names:
            if name not in self.members:
                raise AttributeError(no_member(self.name, name, self.members))


def _members(interface: type) -> Mapping[str, Member]:
    names = [name for name in dir(interface) if not name.startswith("_")]
    attributes = [name for base in interface.__mro__ for name in inspect.get_annotations(base)]
    members = {name: Member(name, "attribute") for name in attributes if not name.startswith("_")}
    for name in names:
        function = inspect.getattr_static(interface, name)
        if inspect.isfunction(function):
            members[name] = Member(name, _kind(function), inspect.signature(function))
        else:
            members[name] = Member(name, "attribute")
    return members


def _kind(function: Callable[..., Any]) -> Kind:
    if inspect.iscoroutinefunction(function):
        return "coroutine"
    try:
        returned = get_type_hints(function).get("return")
        name = getattr(get_origin(returned) or returned, "__name__", "")
    except NameError:  # a type that is imported for type checkers only
        name = cast("str", function.__annotations__["return"]).partition("[")[0].rpartition(".")[2]
    return _KINDS.get(name, "plain")
