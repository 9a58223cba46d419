"""Error messages for a wrong value: what the value is, and what to write instead.

These functions return the exception, or the end of its text, and are called when the mistake is already found.
Mistakes in a graph of layers are defined in ``layers/wiring_errors.py``, a missing service in ``key.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import partial
from types import CoroutineType
from typing import Any, Final, cast

from returns.result import Result

from chatmemory.effect.key import Key, tags_of
from chatmemory.effect.likeness import did_you_mean

__all__ = [
    "calling",
    "no_attribute_of_effect",
    "no_attribute_of_layer",
    "no_context",
    "no_effect",
    "no_function",
    "no_layer",
    "no_manager",
    "no_member",
    "no_schedule",
    "no_seconds",
    "no_tag",
    "require_tag",
    "shown",
]

RUN_WITH_LAYER: Final = (
    "async with ManagedRuntime(layer) as runtime, then await runtime.run(effect), runs one with a layer"
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
    """Return the call of *function* as its user writes it: ``stacks.testing()``."""
    name = _name(function).replace("<lambda>", "function") or "it"
    package, _, _ = str(getattr(function, "__module__", "")).rpartition(".")
    home = sys.modules.get(package)
    # A name that the package exports is written with the package.
    if home is not None and vars(home).get(name) is function:
        name = f"{package.rpartition('.')[2]}.{name}"
    return f"{name}()"


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


INSTEAD: Final[Mapping[str, str]] = {
    "then": "bind(function) goes on with another effect, map(function) with a plain value",
    "flat_map": "bind(function) goes on with another effect",
    "and_then": "bind(lambda _: effect) goes on with another effect",
    "catch": "effect.pipe(catch(NotFoundError, handler)) recovers from one class of errors",
    "catch_all": "lash(handler) recovers from every failure",
    "catch_tag": "effect.pipe(catch(NotFoundError, handler)) recovers from one class of errors",
    "unwrap": "await it first: (await effect).unwrap(), or await effect.or_raise()",
    "failure": "await it first: (await effect).failure()",
    "value_or": "await it first: (await effect).value_or(...)",
    "add_done_callback": "a task takes effect.run(): asyncio.create_task(effect.run())",
    "provide_layer": "async with ManagedRuntime(layer) as runtime, then await runtime.run(effect)",
    "provide_service": "effect.provide(Context.of(Tag, service)) gives it a service",
}
"""What to write instead of an attribute that an outcome, a task, or an effect of another library has."""


def no_attribute_of_effect(name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for an effect without an attribute *name*."""
    cure = INSTEAD.get(name, f"it has not run yet; (await effect.or_raise()).{name} is of its value")
    like = "" if name in INSTEAD else _like(name, known)
    return AttributeError(f"'Effect' object has no attribute {name!r}{like}: {cure}", name=name)


def _like(name: str, known: Iterable[str]) -> str:
    # No suggestion for private names and dunders: programs ask for them, and test runners ask every layer for dozens
    # of them.
    return "" if name.startswith("_") else did_you_mean(name, known).replace(":", ",")


INSTEAD_OF_LAYER: Final[Mapping[str, str]] = {
    "build": "async with ManagedRuntime(layer) as runtime builds it, and releases it",
    "run": "async with ManagedRuntime(layer) as runtime, then await runtime.run(effect)",
    "provide": "dependency >> layer feeds it; async with ManagedRuntime(layer) as runtime runs effects with it",
    "merge": "layer | another gives the services of both",
    "service": "async with ManagedRuntime(layer) as runtime, then await runtime.service(Tag)",
}


def no_attribute_of_layer(name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a layer without an attribute *name*."""
    cure = INSTEAD_OF_LAYER.get(
        name, "a layer is a recipe; async with ManagedRuntime(layer) as runtime has its services"
    )
    like = "" if name in INSTEAD_OF_LAYER else _like(name, known)
    return AttributeError(f"'Layer' object has no attribute {name!r}{like}: {cure}", name=name)


def no_layer(found: object) -> TypeError:
    """Return the error for *found*, which is not a layer."""
    text = shown(found)
    if _is_tag(found):
        cure = f"Layer.succeed({cast('type', found).__name__}, service) gives its service"
    elif _is_layer(getattr(found, "layer", None)):
        cure = f"take its layer, {type(found).__name__}(...).layer"
    elif isinstance(found, type):
        cure = f"Layer.succeed(Tag, {found.__name__}(...)) gives an object of it under a tag"
    elif hasattr(found, "run_in"):
        cure = f"{RUN_WITH_LAYER}; Layer.effect(Tag, effect) gives what one makes"
    elif hasattr(found, "run_sync") and hasattr(found, "child"):
        cure = "give the layer that the runtime was made of"
    elif callable(found):
        cure = f"call the function that makes it, {calling(found)}"
    elif isinstance(found, list | tuple):
        cure = "write one | another, or one >> another"
    elif hasattr(found, "__aenter__"):
        cure = "Layer.scoped(Tag, open_) gives what the context manager gives that open_() returns"
    else:
        cure = "Layer.succeed(Tag, service) makes one of a service"
    return TypeError(f"{text} is not a layer: {cure}")


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
    if _is_layer(found):
        cure = RUN_WITH_LAYER
    elif _is_tag(found):
        cure = f"Context.of({cast('type', found).__name__}, service) holds one"
    else:
        cure = "Context.of(Tag, service) holds one, and add(OtherTag, other) a second"
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
    if isinstance(found, int) and not isinstance(found, bool):
        cure = f"Schedule.recurs({found}) goes on so many times"
    elif isinstance(found, float):
        cure = f"Schedule.spaced({found}) rests so many seconds in between"
    elif callable(found):
        cure = f"call it, {calling(found).removesuffix(')')}...)"
    else:
        cure = "Schedule.exponential(0.1) & Schedule.recurs(3) for example"
    return TypeError(f"{where} takes a Schedule, not {shown(found)}: {cure}")


def no_seconds(found: object) -> TypeError:
    """Return the error for *found*, which is not a number of seconds."""
    cure = "write 0.5 for half a second"
    if hasattr(found, "total_seconds"):
        cure = "write timedelta.total_seconds()"
    return TypeError(f"spans are numbers of seconds, not {shown(found)}: {cure}")


def no_manager(found: object, *, layer: str) -> TypeError:
    """Return the error for a function of ``Layer.scoped`` that returned *found*, not an asynchronous context manager."""
    _is_coroutine(found)
    return TypeError(
        f"layer {layer}: its function has returned {shown(found)}, which is not an asynchronous context manager: "
        "write @asynccontextmanager above an `async def` that yields the service, "
        "or Layer.sync(Tag, make) where there is nothing to close"
    )


def no_member(owner: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence that *owner* has no member *name*, with the most similar of its members."""
    names = sorted(known)
    return f"{owner} has no {name!r}{did_you_mean(name, names)} (it has {', '.join(names) or 'nothing'})"


def _name(found: object) -> str:
    """Return the name of a class or a function, without the names of the scopes in which it is defined."""
    found = found.func if isinstance(found, partial) else found
    owner = getattr(found, "__self__", None)
    if isinstance(owner, type):  # a class method, perhaps of a subclass
        return f"{owner.__name__}.{getattr(found, '__name__', '')}"
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
