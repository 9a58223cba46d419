"""Checks of what users pass to the kernel, and messages that say what to write instead.

``require_*`` raise, ``no_*`` return the error, or the end of its text, when the mistake is already found.  ``fitting``
checks that a service has the members of its tag's Protocol; type checkers check more, signatures for example, so this is
for users without one, and for fakes.  Mistakes in a graph of layers are in ``layer_errors.py``, a missing service in
``key.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import CodeType, CoroutineType, FunctionType
from typing import Any, Final, cast

from returns.result import Result
from typing_extensions import TypeVar

from chatmemory.effect.key import Key, TagOf, interface_of, short_name, tags_of
from chatmemory.effect.likeness import did_you_mean

S = TypeVar("S")

RUN_WITH_LAYER: Final = (
    "async with ManagedRuntime(layer) as runtime, then await runtime.run(effect), runs one with a layer"
)
NO_CALL: Final = (
    "an effect is awaited and not called: `await effect`; "
    "a task takes `start_soon(effect.run)` or `create_task(effect.run())`; "
    "where a function is wanted, write `lambda _: effect`"
)
NO_TRUTH: Final = (
    "an effect is neither true nor false, because it has not run: "
    "write `if await effect.or_raise():`, or `effect is not None`"
)
LONGEST: Final = 80  # the most characters of a value that a message shows: enough to recognize it


def shown(found: object) -> str:
    """Return the text for *found* in a message: a function or class by its name, any other value shortened."""
    if hasattr(type(found), "run_in"):
        return "an effect"
    name = _name(found)
    if name and callable(found):
        return f"the {'class' if isinstance(found, type) else 'function'} {name}"
    text = repr(found)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def calling(function: object) -> str:
    """Return the call of *function*: ``testing()``."""
    return f"{_name(function).replace('<lambda>', 'function') or 'it'}()"


def no_effect(found: object, *, made_by: object = None) -> TypeError:
    """Return the error for *found*, which is not an effect; *made_by* is the function that returned it, if there is one."""
    who = "" if made_by is None else _name(made_by) or repr(made_by)
    text = f"{who} has returned {shown(found)}, which" if who else shown(found)
    if _is_coroutine(found):
        cure = (
            "give the function that makes the coroutine to Effect.promise(function) or "
            "Effect.attempt(function, OSError, to=...), or decorate it with @Effect.gen"
        )
    elif isinstance(found, Result):
        cure = "it is how one has ended: give the effect without awaiting it, or Effect.from_result(outcome)"
    elif _is_tag(found):
        cure = f"Effect.service({cast('type', found).__name__}) is the effect that asks for the service"
    elif _is_layer(found):
        cure = RUN_WITH_LAYER
    elif callable(found):
        cure = f"call it, {calling(found)}, if it makes one; Effect.sync(function) runs a plain function"
    elif who:
        cure = "return Effect.succeed(value), or use map where a function returns a plain value"
    else:
        cure = "Effect.succeed(value) is one that gives a value"
    return TypeError(f"{text} is not an effect: {cure}")


def no_layer(found: object) -> TypeError:
    """Return the error for *found*, which is not a layer."""
    cure = "Layer.succeed(Tag, service) makes one of a service"
    if _is_tag(found):
        cure = f"Layer.succeed({cast('type', found).__name__}, service) gives its service"
    elif hasattr(found, "run_in"):
        cure = f"{RUN_WITH_LAYER}; Layer.effect(Tag, effect) gives what one makes"
    elif _is_layer(getattr(found, "layer", None)):
        cure = f"take its layer, {type(found).__name__}(...).layer"
    elif callable(found) and not isinstance(found, type):
        cure = f"call the function that makes it, {calling(found)}"
    elif hasattr(found, "__aenter__"):
        cure = "Layer.scoped(Tag, open_) gives what the context manager gives that open_() returns"
    return TypeError(f"{shown(found)} is not a layer: {cure}")


def no_tag(found: object) -> TypeError:
    """Return the error for *found*, which is not a tag."""
    if _is_tag(getattr(found, "__origin__", found)):  # Tag, or Tag[Greeter]
        return TypeError(
            f"{found!r} names no service: define a tag, class GreeterTag(Tag[Greeter]): ..., and give that"
        )
    if isinstance(found, type) and (tags := [tag.__name__ for tag in tags_of(found)]):
        cure = f"write {' or '.join(tags)}"
    else:
        cure = "ChatMemoryService is one; define one for your own, class GreeterTag(Tag[Greeter]): ..."
    return TypeError(f"{found!r} is not a tag: services are asked for by their tags: {cure}")


def require_tag(found: object) -> None:
    """Raise unless *found* is a tag that names a service; ``Tag`` itself names none.

    Raises:
        TypeError: it is not such a tag.
    """
    if not _is_tag(found) or cast("Any", found).__parameters__:
        raise no_tag(found)


def no_context(found: object) -> TypeError:
    """Return the error for *found*, which is not a ``Context``."""
    cure = RUN_WITH_LAYER if _is_layer(found) else "Context.of(Tag, service) holds one"
    return TypeError(f"effect.provide takes a Context, not {shown(found)}: {cure}")


def no_function(found: object, *, where: str, example: str) -> TypeError:
    """Return the error for a call of *where* with *found*, which is not a function of the right kind; *example* shows one."""
    if _is_coroutine(found):
        return TypeError(
            f"{where} takes a function, not a coroutine, which could run only once: write {example}"
        )
    return TypeError(f"{where} takes a function, not {shown(found)}: write {example}")


def no_schedule(found: object, *, where: str) -> TypeError:
    """Return the error for a call of *where* with *found*, which is not a schedule."""
    cure = f"Schedule.recurs({found})" if isinstance(found, int) else "Schedule.exponential(0.1) for example"
    return TypeError(f"{where} takes a Schedule, not {shown(found)}: {cure}")


def no_manager(found: object, *, layer: str) -> TypeError:
    """Return the error for a function of ``Layer.scoped`` that returned *found*, not an asynchronous context manager."""
    _is_coroutine(found)
    return TypeError(
        f"layer {layer}: its function has returned {shown(found)}, which is not an asynchronous context manager: "
        "write @asynccontextmanager above an `async def` that yields the service, "
        "or Layer.sync(Tag, make) where there is nothing to close"
    )


def no_member(owner: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence that *owner* lacks the member *name*, with the most similar of its members."""
    names = sorted(known)
    return f"{owner} has no {name!r}{did_you_mean(name, names)} (it has {', '.join(names) or 'nothing'})"


# --- arguments: checked once, when an effect, a layer or a schedule is made ---

COROUTINE: Final = 0x80  # a flag of a code object; `inspect`, which names it, is slow to import
A_COROUTINE: Final = "an `async def`, or Effect.from_result(outcome) where nothing is waited for"
ATTEMPT: Final = "Effect.attempt(lambda: read(path), OSError, to=...)"


def require_function(function: object, where: str, example: str) -> None:
    """Check that *function*, which *where* received, can be called; *example* shows one."""
    if not callable(function):
        raise no_function(function, where=where, example=example)


def require_plain(function: object, where: str, *, instead: str) -> None:
    """Check that *where* received a plain *function*; *instead* is the method that takes a coroutine function."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        if not callable(function):
            raise no_function(function, where=where, example="lambda: ...")
    elif code.co_flags & COROUTINE:
        msg = (
            f"{where} takes a plain function, and {shown(function)} is a coroutine function: write {instead}"
        )
        raise TypeError(msg)


def require_coroutine(function: object, where: str) -> None:
    """Check that *function* is a coroutine function, as *where*, the decorator, expects."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None or not code.co_flags & COROUTINE:
        msg = f"{where} takes a coroutine function, not {shown(function)}: write it above an `async def`"
        raise TypeError(msg)


def require_exceptions(exceptions: tuple[object, ...], verb: str) -> None:
    """Raise ``TypeError`` for anything but classes; Python would report it only when another exception is raised."""
    for exception in exceptions:
        if not isinstance(exception, type):
            msg = f"Effect.{verb} takes the classes of exceptions, not {exception!r}: write {type(exception).__name__}"
            raise TypeError(msg)


def require_seconds(seconds: object) -> None:
    """Raise ``TypeError`` for a value that is not a number."""
    if not isinstance(seconds, float | int) and not hasattr(seconds, "__float__"):
        raise TypeError(f"spans are numbers of seconds, not {shown(seconds)}: write 0.5 for half a second")


def require_count(number: object, *, example: str) -> None:
    """Raise ``TypeError`` for a value that is not a whole number; *example* shows a correct call."""
    if not isinstance(number, int):
        raise TypeError(f"a whole number is wanted, not {shown(number)}: write {example}")


def require_concurrency(number: int) -> None:
    """Raise ``TypeError`` for a value that is not a whole number, ``ValueError`` for one below 1."""
    require_count(number, example="concurrency=4, or concurrency=None for all effects at once")
    if number < 1:
        msg = f"concurrency is 1 or more, or None for all effects at once, not {number}"
        raise ValueError(msg)


def require_awaitable(made: object, function: object, instead: str = A_COROUTINE) -> None:
    """Raise ``TypeError`` if *made*, which *function* returned, cannot be awaited."""
    if not hasattr(made, "__await__"):
        msg = f"{shown(function)} has returned {shown(made)}, which cannot be awaited: write {instead}"
        raise TypeError(msg)


# --- services ---


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
        if not (hasattr(kind, name) or hasattr(service, name)):
            raise _misfit(key, service)
    if isinstance(service, type) and any(
        isinstance(vars(service).get(name), FunctionType) for name in members
    ):
        made = cast("type", service).__name__
        raise TypeError(f"{short_name(tag.key)} names an object, not the class of one: write {made}(...)")
    return service


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
    name = short_name(tag.key)
    lacking = ", ".join(member for member in _members(tag) if not hasattr(service, member))
    if hasattr(service, "run_in"):
        cure = f"Layer.effect({name}, effect) gives what an effect makes"
    else:
        cure = f"add them, or write Layer.mock({name}, ...) for a service that has only some"
    return TypeError(
        f"{shown(service)} is no {_interface_name(tag)}, which {name} names: it lacks {lacking}; {cure}"
    )


# --- what a value is ---


def _name(found: object) -> str:
    """Return the name of a class or a function, without the names of the scopes in which it is defined."""
    return str(getattr(found, "__qualname__", "")).rpartition("<locals>.")[2]


def _is_coroutine(found: Any) -> bool:
    """Return whether *found* is a coroutine, and close it, because it will not be awaited."""
    if type(found) is not CoroutineType:
        return False
    found.close()
    return True


def _is_tag(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, Key)


def _is_layer(found: object) -> bool:
    return hasattr(found, "feed_keep")  # Layer builds on this module
