"""``fitting``: checks that a service has the members of its tag's Protocol.

Type checkers check more, signatures for example; this check is for users without a type checker, and for fakes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import FunctionType
from typing import Any, TypeVar, cast

from chatmemory.effect.checks.mistakes import no_member, shown
from chatmemory.effect.key import TagOf, interface_of, short_name
from chatmemory.effect.likeness import did_you_mean

__all__ = ["fitting", "require_members"]

S = TypeVar("S")


def fitting(tag: TagOf[Any, S], service: S) -> S:
    """Return *service*.

    Raises:
        TypeError: *service* lacks a member of the Protocol that *tag* names, or is a class instead of an instance.
    """
    key: Any = tag  # hashable, because it is a class
    kind = type(service)
    if hasattr(kind, "__getattr__") and not hasattr(kind, "run_in"):
        return service  # a test double, which has every attribute
    for name in (members := _members(key)):
        # Look at the class first, because reading a property of the object may run code.
        if not _has(service, name):
            raise _misfit(key, service)
    if isinstance(service, type) and any(
        isinstance(vars(service).get(name), FunctionType) for name in members
    ):
        made = cast("type", service).__name__
        raise TypeError(f"{short_name(tag.key)} names an object, not the class of one: write {made}(...)")
    return service


def _has(service: object, name: str) -> bool:
    """Return whether *service* has a member of its own; a method that it inherits from its Protocol without a body is none."""
    for owner in type(service).__mro__:
        if name in vars(owner):
            return not (getattr(owner, "_is_protocol", False) and _is_without_body(vars(owner)[name]))
    return hasattr(service, name)


def _is_without_body(member: object) -> bool:
    function = member.fget if isinstance(member, property) else member
    return isinstance(function, FunctionType) and function.__code__.co_code in _WITHOUT_BODY


def _bare() -> None: ...
def _described() -> None:
    """Has a docstring."""


_WITHOUT_BODY = {_bare.__code__.co_code, _described.__code__.co_code}


def require_members(tag: Any, given: Mapping[str, object]) -> None:
    """Check that the Protocol of *tag* allows the members of a mock."""
    known = _members(tag)
    for name, member in given.items():
        if known and name not in known:
            raise TypeError(no_member(_interface_name(tag), name, known))
        if known.get(name) and not callable(member):
            raise TypeError(
                f"{_interface_name(tag)}.{name} is a method, and {shown(member)} is not a function: "
                f"write {name}=lambda *_: Effect.succeed({shown(member)})"
            )


@cache
def _members(tag: Any) -> Mapping[str, bool]:
    """Return the members of the Protocol that *tag* names, and whether each is a method; empty if it is not a Protocol."""
    interface = interface_of(tag)
    if interface is None or not getattr(interface, "_is_protocol", False):
        return {}
    members: dict[str, bool] = {}
    for base in interface.__mro__:
        if getattr(base, "_is_protocol", False):
            names = (*vars(base).get("__annotations__", ()), *vars(base))
            for name in names:
                if not name.startswith("_"):
                    members.setdefault(name, isinstance(vars(base).get(name), FunctionType))
    return members


def _interface_name(tag: Any) -> str:
    interface = interface_of(tag)
    return short_name(tag.key) if interface is None else interface.__name__


def _misfit(tag: Any, service: object) -> TypeError:
    name, lacking = short_name(tag.key), [member for member in _members(tag) if not _has(service, member)]
    has = set(dir(service)).difference(lacking)
    missing = [
        f"{member}{did_you_mean(member, has).replace(': did you mean', ' (it has').replace('?', ')')}"
        for member in lacking
    ]
    if hasattr(service, "run_in"):
        cure = f"Layer.effect({name}, effect) gives what an effect makes"
    elif hasattr(service, "layer") and hasattr(service, "service"):
        cure = "give its `layer`, or its `service`"
    elif hasattr(service, "__await__"):
        cure = f"Layer.effect({name}, Effect.promise(function)) gives what a coroutine function returns"
    else:
        cure = f"add them, or write Layer.mock({name}, ...) for a service that has only some"
    return TypeError(
        f"{shown(service)} is no {_interface_name(tag)}, which {name} names: it lacks {', '.join(missing)}; {cure}"
    )
