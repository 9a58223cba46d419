"""``structure``: converts raw data to classes and reports all problems at once, as a ``ConfigError``.

The classes are attrs classes, and the raw data writes their fields in camelCase: ``summarize_every_n`` is read from
``summarizeEveryN``.  cattrs converts the data, and is imported on first use.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime
from functools import cache
from typing import Any, Literal, Union, cast, get_args, get_origin

import attrs
from typing_extensions import TypeVar

from chatmemory.effect.lazy import cattrs
from chatmemory.effect.likeness import did_you_mean
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.errors import ConfigError, ConfigProblem, InvalidValue, MissingKey

A = TypeVar("A")

MOST_PROBLEMS = 50
"""The largest number of problems that are reported for one list or table: to name each of a million would take
minutes."""
ALSO = "also"
"""The key in the metadata of a field for a second name under which it is read: ``field(metadata={ALSO:
"should_store"})``."""
_BOOLEANS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def structure(
    cls: type[A], data: object, path: str = "", *, converter: cattrs.Converter | None = None
) -> Outcome[A, ConfigError]:
    """Convert *data* to a *cls*.

    Unknown keys are problems.  Numbers and booleans may be written as text, as environment variables are, but nothing
    else is converted: neither ``1`` to true nor ``2.0`` to 2.  attrs validators run, and name the path of their field.

    Args:
        cls: an attrs class, or a plain type.
        data: what parsers of TOML or JSON return: mappings, sequences and scalars.
        path: where *data* comes from, put before the paths of all problems: ``memory.chat``.
        converter: a ``new_converter()`` that knows further types; None: one without further types.
    """
    try:
        return Success((converter or _converter()).structure(data, cls))
    except (cattrs.BaseValidationError, ValueError, TypeError) as error:
        return Failure(ConfigError(tuple(_problems(error, path))))


def fields_of(cls: Any) -> Mapping[str, Any]:
    """Return the types of the fields of an attrs class (or of ``class | None``) by key; empty for any other type."""
    if get_origin(cls) in {Union, types.UnionType}:
        cls = next((option for option in get_args(cls) if attrs.has(option)), cls)
    if not attrs.has(cls):
        return {}
    return {key_of(field.name): field.type for field in attrs.fields(attrs.resolve_types(cls)) if field.init}


def named_tables_of(cls: Any) -> Any:
    """Return the attrs class ``X`` when *cls* maps names to instances of ``X``; None for any other type."""
    if get_origin(cls) is Mapping and attrs.has(get_args(cls)[1]):
        return get_args(cls)[1]
    return None


def other_keys_of(cls: Any) -> Mapping[str, str]:
    """Return the second keys of the fields of an attrs class, each mapped to the field's own key (see ``ALSO``)."""
    fields = attrs.fields(cls) if attrs.has(cls) else ()
    return {field.metadata[ALSO]: key_of(field.name) for field in fields if ALSO in field.metadata}


def by_own_keys(given: Mapping[str, A], others: Mapping[str, str]) -> dict[str, A]:
    """Return *given* with the second keys of *others* replaced by the fields' own keys.

    A field that is given under both keys keeps both, and is then refused.
    """
    return {key if others.get(key, key) in given else others[key]: value for key, value in given.items()}


def key_of(name: str) -> str:
    """Return the key of a field: ``summarizeEveryN`` for ``summarize_every_n``."""
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


def _problems(error: Exception, path: str) -> list[ConfigProblem]:
    """Return the problems in the tree of exceptions that cattrs raises, with paths from its notes."""
    match error:
        case cattrs.BaseValidationError():
            problems: list[ConfigProblem] = []
            for inner in error.exceptions:
                place = path
                for note in getattr(inner, "__notes__", ()):
                    if isinstance(note, cattrs.errors.AttributeValidationNote):
                        place = _below(path, key_of(note.name))
                    elif isinstance(note, cattrs.errors.IterableValidationNote):
                        place = _below(path, note.index)
                problems += _problems(inner, place)
            return problems
        case KeyError():
            return [MissingKey(path)]
        case cattrs.errors.ForbiddenExtraKeysError():
            known = fields_of(error.cl)
            unknown = sorted(error.extra_fields)
            named: list[ConfigProblem] = [
                InvalidValue(_below(path, key), f"unknown key{did_you_mean(key, known)}")
                for key in unknown[:MOST_PROBLEMS]
            ]
            if more := len(unknown[MOST_PROBLEMS:]):
                named.append(InvalidValue(path, f"{more} more unknown keys"))
            return named
        case ValueError() | TypeError():
            return [InvalidValue(path, str(error))]
        case _:
            raise error  # a class that cattrs cannot build is a programming error


def _below(path: str, key: int | str) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    shown = key.encode(errors="backslashreplace").decode()  # a lone surrogate cannot be printed
    return f"{path}.{shown}" if path else shown


def new_converter() -> cattrs.Converter:
    """Return a converter that is as strict as ``structure`` describes; further types may be added to it."""
    converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=True)

    def validated(field: attrs.Attribute[Any]) -> Callable[[object, Any], object]:
        named = field.evolve(name=key_of(field.name))

        def make(raw: object, type_: Any) -> object:
            value = converter.structure(raw, type_)
            if field.validator is not None:
                field.validator(None, named, value)
            return value

        return make

    def hook_for_class(cls: Any) -> Callable[[object, Any], object]:
        # Validators run here, field by field: in __init__ the first validator that fails would hide the other
        # problems.
        overrides: dict[str, Any] = {
            field.name: cattrs.gen.override(rename=key_of(field.name), struct_hook=validated(field))
            for field in attrs.fields(attrs.resolve_types(cls))
        }
        make_class = cattrs.gen.make_dict_structure_fn(cls, converter, **overrides)
        others = other_keys_of(cls)

        def make(raw: object, type_: Any) -> object:
            if not isinstance(raw, Mapping):
                raise _unfit("named fields", raw)
            named = cast("Mapping[str, Any]", raw)
            return make_class(by_own_keys(named, others) if others else named, type_)

        return make

    def named_tables(raw: object, type_: Any) -> object:
        if not isinstance(raw, Mapping):
            raise _unfit("tables with names", raw)
        _, table = get_args(type_)
        tables: Any = types.GenericAlias(dict, (str, table))
        return converter.structure(cast("Mapping[str, object]", raw), tables)

    converter.register_structure_hook_func(lambda type_: named_tables_of(type_) is not None, named_tables)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(bool, _boolean)
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_func(lambda type_: type_ is date, _date)
    converter.register_structure_hook_func(_is_literal, _choice)
    converter.register_structure_hook_factory(attrs.has, hook_for_class)
    return converter


_converter = cache(new_converter)


def _is_literal(type_: Any) -> bool:
    origin: object = get_origin(type_)
    return origin is Literal


def _text(raw: object, _: Any) -> str:
    if isinstance(raw, str):
        return raw
    raise _unfit("text", raw)


def _boolean(raw: object, _: Any) -> bool:
    value = _BOOLEANS.get(raw.lower()) if isinstance(raw, str) else raw
    if isinstance(value, bool):
        return value
    raise _unfit("true or false", raw)


def _integer(raw: object, _: Any) -> int:
    if isinstance(raw, int | str) and not isinstance(raw, bool):
        with suppress(ValueError):
            return int(raw)
    raise _unfit("an integer", raw)


def _number(raw: object, _: Any) -> float:
    if isinstance(raw, int | float | str) and not isinstance(raw, bool):
        with suppress(ValueError):
            if math.isfinite(value := float(raw)):
                return value
    raise _unfit("a number", raw)


def _date(raw: object, _: Any) -> date:
    """Return *raw* as a date, or as an instant if it has a time.

    Python counts an instant as a date, so an instant is returned unchanged.
    """
    if isinstance(raw, date):
        return raw
    if isinstance(raw, str):
        for kind in (date, datetime):
            with suppress(ValueError):
                return kind.fromisoformat(raw)
    raise _unfit("a date or an instant", raw)


def _choice(raw: object, type_: Any) -> object:
    choices = get_args(type_)
    if raw in choices:
        return raw
    raise _unfit("one of " + ", ".join(map(repr, choices)), raw, hint=did_you_mean(str(raw), choices))


def _unfit(expected: str, raw: object, *, hint: str = "") -> ValueError:
    # The content of a whole table is not shown, because it may contain a secret.
    shown = repr(raw) if isinstance(raw, str | int | float) else type(raw).__name__
    return ValueError(f"expected {expected}, not {shown}{hint}")
