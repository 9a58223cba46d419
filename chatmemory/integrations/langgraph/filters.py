"""``conditions``: a filter of LangGraph as conditions on the value of an item.

A filter names fields, or paths of fields (``a.b``), and what each has to be: a value, or operators
(``{"$gte": 18, "$lt": 65}``) of which all have to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from chatmemory.items.item_condition import Condition, Relation

_RELATIONS: Final[Mapping[str, Relation]] = {
    "$eq": "is",
    "$ne": "is not",
    "$gt": "above",
    "$gte": "at least",
    "$lt": "below",
    "$lte": "at most",
}


def conditions(asked: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return all that has to hold.

    >>> conditions({"city": "Berlin"})
    (Condition(field='city', relation='is', operand='Berlin'),)

    Raises:
        ValueError: there is no such operator.
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
