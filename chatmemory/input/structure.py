"""Converts JSON into classes (``structure``) and back (``unstructure``).

Names are camelCase in JSON and snake_case in Python.  The conversion is strict: it guesses no type, refuses unknown
fields, and reports all problems at once, each with its path (``$.messages[2].content``).
It checks the structure only; ``conversation/message_rules.py`` checks the content of messages when they are added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin

import attrs

from chatmemory.effect.lazy import cattrs
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.errors import (
    ConfigError,
    ConfigProblem,
    DataValidationError,
    InvalidValue,
    MissingKey,
    Problem,
)
from chatmemory.input.choices import Unchanged
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.input.rules import instant_problem
from chatmemory.input.structuring import (
    MOST_PROBLEMS,
    key_of,
    new_converter,
    structure as structure_settings,
)

T = TypeVar("T")

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # json.dumps makes one for every call

STAYS_INSIDE = (BaseException | None,)
"""Types of fields that no JSON shows: an exception is no data, and its text may hold a secret."""


def structure(data: object, kind: type[T], *, path: str = "$") -> Outcome[T, DataValidationError]:
    """Return *data*, as JSON readers return it, as a *kind*: a class of chatmemory, or ``tuple[...]`` of one."""
    return _by_our_rules(structure_settings(kind, data, path, converter=_converter()))


def structure_parameters(parameters: Mapping[str, str], kind: type[T]) -> Outcome[T, DataValidationError]:
    """Return *parameters*, whose values are all text, as a *kind*; numbers and instants are parsed."""
    return _by_our_rules(structure_settings(kind, parameters, "$.query", converter=_parameter_converter()))


def unstructure(value: object) -> Json:
    """Return *value* as a JSON writer needs it; instants become ISO 8601 text."""
    return cast("Json", _converter().unstructure(value))


def read_json(text: str | bytes, kind: type[T]) -> Outcome[T, DataValidationError]:
    """Return a *kind* read from JSON *text*.  NaN and infinities, which Python's reader accepts, are refused."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Failure(DataValidationError((Problem("$", f"no JSON: {error}"),)))
    return structure(data, kind)


def write_json(value: object) -> str:
    """Return *value* as JSON text in which Chinese stays readable."""
    return _ENCODER.encode(unstructure(value))


@cache
def _converter() -> cattrs.Converter:
    """Return the converter of the kernel with the types of chatmemory; it does not read numbers from text."""
    converter = new_converter()
    converter.register_structure_hook(bool, _exactly(bool, "true or false"))
    converter.register_structure_hook(int, _whole)
    converter.register_structure_hook(float, _exactly(float, "a number", int))
    converter.register_structure_hook(datetime, _instant)
    converter.register_unstructure_hook(datetime, datetime.isoformat)
    converter.register_structure_hook_func(_has_origin(Mapping), _json_object)
    converter.register_structure_hook_factory(may_be_unchanged, _given_hook)
    converter.register_structure_hook_func(is_any_json, lambda data, _: data)
    converter.register_structure_hook_factory(_has_origin(tuple), _tuple_hook)
    converter.register_structure_hook_func(STAYS_INSIDE.__contains__, _refuse_field)
    converter.register_unstructure_hook_factory(attrs.has, _unstructure_hook)
    return converter


@cache
def _parameter_converter() -> cattrs.Converter:
    """Return the converter of the kernel with the types of chatmemory; it reads numbers from text."""
    converter = new_converter()
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(datetime, _instant)
    converter.register_structure_hook_func(_is_version_or_instant, _version_or_instant)
    return converter


def _is_version_or_instant(kind: object) -> bool:
    return {int, datetime} <= {*get_args(kind)}


def _has_origin(origin: object) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


def is_any_json(kind: object) -> bool:
    """Return whether *kind* is the type ``Json``, or a union with it."""
    # By its members, since those who resolve annotations unfold the type that names itself.
    return {Mapping, Sequence} <= {get_origin(member) for member in get_args(kind)}


def may_be_unchanged(kind: object) -> bool:
    """Return whether *kind* is the type of a field that keeps its value when it is not given."""
    return Unchanged in get_args(kind)


def without_unchanged(kind: Any) -> Any:
    """Return the type of such a field when it is given."""
    return Union[tuple(member for member in get_args(kind) if member is not Unchanged)]  # noqa: UP007  made of a tuple


def _given_hook(kind: Any, converter: cattrs.Converter, /) -> Callable[[object, object], object]:
    given = without_unchanged(kind)
    return lambda data, _: converter.structure(data, given)


def _exactly(kind: type[Any], name: str, *also: type[Any]) -> Callable[[object, object], object]:
    # type() and not isinstance(): True is an int in Python and no number in JSON.
    def hook(data: object, _: object) -> object:
        if type(data) not in (kind, *also):
            raise _unfit(name, data)
        try:
            return kind(data)
        except OverflowError:  # an integer that no float comes near to
            raise _unfit(f"{name} of a sane size", data) from None

    return hook


def _whole(data: object, _: object) -> int:
    # 3.0 is an integer to JSON, and to the schemas that promise what is taken here.
    if type(data) is int or (isinstance(data, float) and data.is_integer()):
        return int(data)
    raise _unfit("an integer", data)


def _integer(data: object, _: object) -> int:
    # int() alone would take 1_000 and the digits of every script.
    if isinstance(data, str) and re.fullmatch(r"-?[0-9]{1,18}", data):
        return int(data)
    raise _unfit("an integer", data)


def _version_or_instant(data: object, _: object) -> int | datetime:
    is_version = isinstance(data, str) and re.fullmatch(r"-?[0-9]+", data) is not None
    return _integer(data, _) if is_version else _instant(data, _)


def _instant(data: object, _: object) -> datetime:
    if not isinstance(data, str):
        raise _unfit("an instant as ISO 8601 text", data)
    try:
        instant = datetime.fromisoformat(data)
    except ValueError:
        msg = f"no ISO 8601 instant: {data!r}"
        raise ValueError(msg) from None
    if instant.utcoffset() is None:
        msg = "a time without time zone names no instant: end it with Z, or with an offset such as +08:00"
        raise ValueError(msg)
    if problem := instant_problem(instant):
        raise ValueError(problem)
    return instant


def _json_object(data: object, _: object) -> JsonObject:
    if isinstance(data, Mapping):
        return cast("JsonObject", data)
    raise _unfit("a JSON object", data)


def _tuple_hook(kind: Any, converter: cattrs.Converter, /) -> Callable[[object, object], object]:
    member_kind, *_ = get_args(kind)
    structure_member = converter.get_structure_hook(member_kind)

    def hook(data: object, _: object) -> object:
        if not isinstance(data, list | tuple):
            raise _unfit("a list", data)
        members: list[object] = []
        errors: list[Exception] = []
        for index, member in enumerate(cast("Sequence[object]", data)):
            try:
                members.append(structure_member(member, member_kind))
            except Exception as error:  # noqa: BLE001  whichever it is, ``structure`` tells problems from mistakes
                error.add_note(cattrs.errors.IterableValidationNote(f"member {index}", index, member_kind))
                errors.append(error)
                if len(errors) == MOST_PROBLEMS:
                    errors.append(ValueError(f"too many problems: nothing behind [{index}] was looked at"))
                    break
        if errors:
            raise cattrs.errors.IterableValidationError(f"while structuring {kind!r}", errors, kind)  # pyright: ignore[reportCallIssue]  it looks at the group's own __new__
        return tuple(members)

    return hook


def _unstructure_hook(kind: type[Any], converter: cattrs.Converter, /) -> Callable[[Any], dict[str, Any]]:
    fields = attrs.fields(kind)
    overrides: dict[str, Any] = {
        field.name: cattrs.gen.override(rename=key_of(field.name), omit=field.type in STAYS_INSIDE)
        for field in fields
    }
    return cattrs.gen.make_dict_unstructure_fn(kind, converter, **overrides)


def _by_our_rules(outcome: Outcome[T, ConfigError]) -> Outcome[T, DataValidationError]:
    if isinstance(outcome, Success):
        return outcome
    return Failure(DataValidationError(tuple(map(_problem, outcome.failure().problems))))


def _refuse_field(_data: object, _: object) -> object:
    msg = "unknown key"
    raise ValueError(msg)


def _refuse_constant(name: str) -> Json:
    msg = f"{name} is no JSON number"
    raise ValueError(msg)


def _unfit(expected: str, data: object) -> ValueError:
    return ValueError(f"expected {expected}, not {type(data).__name__}")


def _problem(problem: ConfigProblem) -> Problem:
    match problem:
        case MissingKey(path):
            return Problem(path, "required field missing")
        case InvalidValue(path, message):
            return Problem(path, message)
        case _:
            return Problem("$", str(problem))
