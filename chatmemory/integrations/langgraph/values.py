"""``item_name``, ``json_text``, ``lifetime_of``, ``listed``, ``conditions``: convert values of LangGraph to chatmemory's.

A listing selects namespaces among those below its ``literal_prefix``.  A filter names fields, or paths of fields
(``a.b``), and what each has to be: a value, or operators (``{"$gte": 18, "$lt": 65}``) that all have to hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final, cast

from langgraph.store.base import ListNamespacesOp, MatchCondition

from chatmemory.input.json_value import readable
from chatmemory.input.rules import is_encodable
from chatmemory.items.item_repository import Condition, ItemName, Labels, Relation

OWNER: Final = "langgraph"
"""The first label, see ``Labels``; LangGraph itself reserves namespaces with this label."""

LONGEST_MINUTES: Final = 1000 * 366 * 1440.0  # so that the end is a valid date
_RELATIONS: Final[Mapping[str, Relation]] = {
    "$eq": "is",
    "$ne": "is not",
    "$gt": "above",
    "$gte": "at least",
    "$lt": "below",
    "$lte": "at most",
}

# json.dumps would make an encoder for each value, json.loads would skip space around text that was written by us.
_readable_json: Final = json.JSONEncoder(ensure_ascii=False).encode
_read_here: Final = json.JSONDecoder().raw_decode


def item_name(namespace: Sequence[str], key: str) -> ItemName:
    """Return the name of an item.

    Raises:
        TypeError: *key* is not a string.
        ValueError: no store can hold the name.
    """
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]  from outside
        msg = f"a key is a string, not {type(key).__name__}"
        raise TypeError(msg)
    return ItemName(labels_of(namespace), _storable(key, "key"))


def labels_of(namespace: Sequence[str]) -> Labels:
    """Return the labels of a LangGraph namespace, after the label of this integration.

    Raises:
        ValueError: a label contains characters that no store can keep.
    """
    return _labels(tuple(namespace))


@lru_cache(512)  # many items share a namespace
def _labels(namespace: tuple[str, ...]) -> Labels:
    return (OWNER, *[_storable(label, "namespace label") for label in namespace])


def namespace_of(labels: Labels) -> tuple[str, ...]:
    """Return the LangGraph namespace for *labels*."""
    return labels[1:]


def _storable(text: str, what: str) -> str:
    if not is_encodable(text):
        msg = f"a {what} has half a character (a lone surrogate)"
        raise ValueError(msg)
    if "\0" in text:
        msg = f"a {what} has a NUL"
        raise ValueError(msg)
    return text


def json_text(value: Mapping[str, Any]) -> str:
    """Return *value* as JSON.

    Raises:
        TypeError: it is not JSON.
    """
    return readable(_readable_json(value if isinstance(value, dict) else dict(value)))


def read_json(text: str) -> Any:
    """Return the value in the JSON *text*."""
    return _read_here(text)[0]


def texts_in(value: object) -> Iterator[str]:
    """Yield every text and number in *value*, without the names of fields, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[str, object]", value).values():
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[object]", value):
            yield from texts_in(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def lifetime_of(minutes: float | None) -> timedelta | None:
    """Return the lifetime of an item; None: unlimited.

    Raises:
        ValueError: the number of minutes is not above 0.
    """
    if minutes is None:
        return None
    if not minutes > 0:  # NaN as well
        msg = f"ttl is a number of minutes above 0, not {minutes!r}"
        raise ValueError(msg)
    return timedelta(minutes=min(minutes, LONGEST_MINUTES))


def literal_prefix(op: ListNamespacesOp) -> Labels:
    """Return labels that are a prefix of every requested namespace.

    Raises:
        ValueError: the way to match, or a label, is invalid.
    """
    for condition in op.match_conditions or ():
        if condition.match_type not in {"prefix", "suffix"}:
            msg = f"a namespace is matched by prefix or suffix, not by {condition.match_type!r}"
            raise ValueError(msg)
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix" and "*" not in condition.path:
            return labels_of(condition.path)
    return labels_of(())


def listed(op: ListNamespacesOp, found: Sequence[Labels]) -> list[tuple[str, ...]]:
    """Return the namespaces in *found* that match, cut to their depth, in order."""
    namespaces = map(namespace_of, found)
    asked = op.match_conditions or ()
    matching = [each for each in namespaces if all(_matches(each, condition) for condition in asked)]
    cut = sorted({each[: op.max_depth] for each in matching})
    return cut[op.offset : op.offset + op.limit]


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    length = len(condition.path)
    if length > len(namespace):
        return False
    part = namespace[:length] if condition.match_type == "prefix" else namespace[len(namespace) - length :]
    return all(wanted in ("*", label) for label, wanted in zip(part, condition.path, strict=True))


def conditions(asked: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return all conditions, which all have to hold.

    >>> conditions({"city": "Berlin"})
    (Condition(field='city', relation='is', operand='Berlin'),)

    Raises:
        ValueError: an operator is unknown, or belongs to a field within a field.
    """
    return tuple([condition for field, wanted in asked.items() for condition in _of_field(field, wanted)])


def _of_field(field: str, wanted: Any) -> Iterator[Condition]:
    compared: Mapping[str, Any] = cast("Mapping[str, Any]", wanted) if isinstance(wanted, dict) else {}
    if not any(name.startswith("$") for name in compared):
        within = [cast("Mapping[str, Any]", inner) for inner in compared.values() if isinstance(inner, dict)]
        if any(name.startswith("$") for inner in within for name in inner):
            msg = f"Unsupported filter {wanted}: operators compare a whole field of a value"
            raise ValueError(msg)
        yield Condition(field, "is", wanted)
        return
    for operator, operand in compared.items():
        if operator not in _RELATIONS:
            msg = f"Unsupported operator: {operator}; there are $eq, $ne, $gt, $gte, $lt and $lte"
            raise ValueError(msg)
        yield Condition(field, _RELATIONS[operator], operand)
