"""Converts listings and filters of LangGraph to namespaces and conditions of chatmemory.

A listing selects namespaces among those below its ``literal_prefix``.  A filter names fields, or paths of fields
(``a.b``), and what each has to be: a value, or operators (``{"$gte": 18, "$lt": 65}``) that all have to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from langgraph.store.base import ListNamespacesOp, MatchCondition

from chatmemory.integrations.langgraph.values import labels_of, namespace_of
from chatmemory.items.item_condition import Condition, Relation
from chatmemory.items.item_repository import Labels


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


_RELATIONS: Final[Mapping[str, Relation]] = {
    "$eq": "is",
    "$ne": "is not",
    "$gt": "above",
    "$gte": "at least",
    "$lt": "below",
    "$lte": "at most",
}


def conditions(asked: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return all conditions, which all have to hold.

    >>> conditions({"city": "Berlin"})
    (Condition(field='city', relation='is', operand='Berlin'),)

    Raises:
        ValueError: an operator is unknown.
    """
    return tuple([condition for field, wanted in asked.items() for condition in _of_field(field, wanted)])


def _of_field(field: str, wanted: Any) -> Iterator[Condition]:
    compared: Mapping[str, Any] = cast("Mapping[str, Any]", wanted) if isinstance(wanted, dict) else {}
    if not any(name.startswith("$") for name in compared):
        yield Condition(field, "is", wanted)
        return
    for operator, operand in compared.items():
        if operator not in _RELATIONS:
            msg = f"Unsupported operator: {operator}; there are $eq, $ne, $gt, $gte, $lt and $lte"
            raise ValueError(msg)
        yield Condition(field, _RELATIONS[operator], operand)
