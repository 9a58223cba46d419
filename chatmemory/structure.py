"""The door between JSON and the values: ``structure`` in, ``unstructure`` out.

Field names are camelCase in JSON and snake_case in Python.  The door is strict: nothing is converted on a guess, an
unknown field is refused, and all problems are reported at once, each with its path (``$.messages[2].content``).
It answers for the shape; what a message may say is checked where messages are added, by ``message_rules.py``.
Import it where it is needed, not at the top of a package: cattrs takes longer to import than all the rest of chatmemory.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args, get_origin

import attrs
from cattrs import (
    BaseValidationError,
    ClassValidationError,
    Converter,
    ForbiddenExtraKeysError,
    IterableValidationError,
)
from cattrs.cols import list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.errors import DataValidationError, Problem
from chatmemory.message_rules import instant_problem, metadata_problems
from chatmemory.messages import Json, JsonObject

T = TypeVar("T")
_Hook: TypeAlias = Callable[[Any, Any], Any]

KEPT_INSIDE = frozenset({"cause"})
"""Fields that never leave the process: an exception is no data, and its text may hold a secret."""


def structure(data: object, kind: type[T], *, path: str = "$") -> Outcome[T, DataValidationError]:
    """Make a *kind* (a class of ours, or ``tuple`` of one) of *data* as JSON readers return it."""
    try:
        return Success(_converter().structure(data, kind))
    except (BaseValidationError, _MisshapenError) as error:
        return Failure(DataValidationError(tuple(_problems(error, path))))


def unstructure(value: object) -> Json:
    """Return *value* as JSON writers take it; instants become ISO 8601 text."""
    return cast("Json", _converter().unstructure(value))


def read_json(text: str | bytes, kind: type[T]) -> Outcome[T, DataValidationError]:
    """Make a *kind* of JSON *text*.  NaN and infinities, which Python's reader lets pass, are no JSON."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Failure(DataValidationError((Problem("$", f"no JSON: {error}"),)))
    return structure(data, kind)


def write_json(value: object, *, indent: int | None = None) -> str:
    """Return *value* as JSON text in which Chinese stays readable."""
    return json.dumps(unstructure(value), ensure_ascii=False, allow_nan=False, indent=indent)


def camel_case(name: str) -> str:
    """Return the JSON name of a Python name: ``summarize_every_n`` is ``summarizeEveryN``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion to end a message with; empty when nothing known comes close to *name*."""
    close = get_close_matches(name, list(known), n=1)
    return f": did you mean {close[0]!r}?" if close else ""


class _MisshapenError(Exception):
    """A value is not what its place in the shape asks for."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems


def _misshapen(message: str) -> _MisshapenError:
    return _MisshapenError(Problem("", message))


def _refuse_constant(name: str) -> Json:
    msg = f"{name} is no JSON number"
    raise ValueError(msg)


@cache
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind, name in ((str, "text"), (bool, "true or false"), (int, "an integer"), (float, "a number")):
        converter.register_structure_hook(kind, _scalar_hook(kind, name))
    converter.register_structure_hook(datetime, _structure_instant)
    converter.register_unstructure_hook(datetime, datetime.isoformat)
    converter.register_structure_hook_func(_is_json_object, _structure_json_object)
    converter.register_structure_hook_func(_has_origin(Literal), _structure_choice)
    converter.register_structure_hook_factory(_has_origin(tuple), _tuple_hook)
    converter.register_structure_hook_factory(attrs.has, _class_hook)
    converter.register_unstructure_hook_factory(attrs.has, _unstructure_class_hook)
    return converter


def _is_json_object(kind: object) -> bool:
    return kind == JsonObject


def _has_origin(origin: object) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


def _scalar_hook(kind: type[Any], name: str) -> _Hook:
    # bool is an int in Python and no number in JSON; 1 is a number wherever 1.0 is.
    accepted = (int, float) if kind is float else (kind,)

    def hook(data: Any, _: object) -> object:
        if type(data) not in accepted:
            raise _misshapen(f"expected {name}, not {_name(data)}")
        return kind(data)

    return hook


def _structure_instant(data: object, _: object) -> datetime:
    if not isinstance(data, str):
        raise _misshapen(f"expected an instant as ISO 8601 text, not {_name(data)}")
    try:
        instant = datetime.fromisoformat(data)
    except ValueError:
        raise _misshapen(f"no ISO 8601 instant: {data!r}") from None
    if problem := instant_problem(instant):
        raise _misshapen(problem)
    return instant


def _structure_json_object(data: object, _: object) -> JsonObject:
    if problems := metadata_problems("", data):
        raise _MisshapenError(*problems)
    return cast("JsonObject", data)


def _structure_choice(data: object, kind: object) -> object:
    choices: tuple[object, ...] = get_args(kind)
    if data not in choices:
        hint = did_you_mean(str(data), map(str, choices))
        raise _misshapen(f"expected one of {', '.join(map(repr, choices))}, not {data!r}{hint}")
    return data


def _tuple_hook(kind: Any, converter: Converter, /) -> _Hook:
    structure_members = list_structure_factory(kind, converter)

    def hook(data: Any, _: object) -> object:
        if isinstance(data, str | bytes | Mapping) or not isinstance(data, Sequence):
            raise _misshapen(f"expected a list, not {_name(data)}")
        return tuple(structure_members(data, kind))

    return hook


def _class_hook(kind: type[Any], converter: Converter, /) -> _Hook:
    structure_fields = make_dict_structure_fn(kind, converter, **_json_names(kind))

    def hook(data: Any, _: object) -> object:
        if not isinstance(data, Mapping):
            raise _misshapen(f"expected an object, not {_name(data)}")
        return structure_fields(cast("JsonObject", data), kind)

    return hook


def _unstructure_class_hook(kind: type[Any], converter: Converter, /) -> Callable[[Any], dict[str, Any]]:
    return make_dict_unstructure_fn(kind, converter, **_json_names(kind))


def _json_names(kind: type[Any]) -> dict[str, Any]:
    names = [field.name for field in attrs.fields(kind)]
    return {name: override(rename=camel_case(name), omit=name in KEPT_INSIDE) for name in names}


def _problems(error: BaseException, path: str) -> Iterator[Problem]:
    """Walk the tree of exceptions that cattrs raises; its own ``transform_error`` does not know names in JSON."""
    match error:
        case ClassValidationError():
            fields, whole = error.group_exceptions()
            inside = [(inner, f"{path}.{camel_case(note.name)}") for inner, note in fields]
            yield from _problems_of_all([*inside, *((inner, path) for inner in whole)])
        case IterableValidationError():
            members, whole = error.group_exceptions()
            inside = [(inner, f"{path}[{note.index}]") for inner, note in members]
            yield from _problems_of_all([*inside, *((inner, path) for inner in whole)])
        case _MisshapenError():
            for problem in error.problems:
                yield Problem(path + problem.path, problem.message)
        case ForbiddenExtraKeysError():
            known = [
                camel_case(field.name) for field in attrs.fields(error.cl) if field.name not in KEPT_INSIDE
            ]
            for name in sorted(map(str, error.extra_fields)):
                yield Problem(f"{path}.{name}", f"unknown field{did_you_mean(name, known)}")
        case KeyError():
            yield Problem(path, "required field missing")
        case _:
            yield Problem(path, str(error))


def _problems_of_all(errors: Iterable[tuple[BaseException, str]]) -> Iterator[Problem]:
    for error, path in errors:
        yield from _problems(error, path)


def _name(data: Any) -> str:
    match data:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return type(data).__name__
