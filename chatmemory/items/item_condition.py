"""``Condition``: a condition on a field of an item's value, compared as JSON in the same way on every backend.

``chatmemory.integrations`` translates the filters of a framework; a store in ``chatmemory_layers`` may preselect items
before they are compared here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeGuard, final

from attrs import frozen

Relation: TypeAlias = Literal["is", "is not", "above", "at least", "below", "at most"]

_SIGNS: dict[Relation, tuple[int, ...]] = {
    "above": (1,),
    "at least": (0, 1),
    "below": (-1,),
    "at most": (-1, 0),
}


@final
@frozen
class Condition:
    """A comparison of one field of an item with an operand.  A missing field counts as null.

    >>> at_least_18 = Condition("age", "at least", 18)
    >>> at_least_18.holds({"age": 20}), at_least_18.holds({"age": "20"}), at_least_18.holds({})
    (True, False, False)

    Attributes:
        field: the name of the field.  When no field has this name, it is a path of names (``a.b``).
        relation: how the field is compared with *operand*.
        operand: JSON.  Two numbers have an order, and so have two texts, by code points; no other values have one.
    """

    field: str
    relation: Relation
    operand: Any

    def holds(self, value: Any) -> bool:
        """Return whether *value*, JSON as Python objects, fulfils the condition."""
        found = self._found(value)
        if self.relation == "is":
            return _is_same(found, self.operand)
        if self.relation == "is not":
            return not _is_same(found, self.operand)
        return _order(found, self.operand) in _SIGNS[self.relation]

    def _found(self, value: Any) -> Any:
        if _is_object(value) and self.field in value:
            return value[self.field]
        here = value
        for name in self.field.split("."):
            here = here.get(name) if _is_object(here) else None
        return here


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _is_same(found: Any, wanted: Any) -> bool:
    """Return whether two values are equal in JSON: ``1`` equals ``1.0``, but not ``true``."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if _is_object(found) and _is_object(wanted):
        return found.keys() == wanted.keys() and all(_is_same(found[name], wanted[name]) for name in found)
    if _is_array(found) and _is_array(wanted):
        return len(found) == len(wanted) and all(map(_is_same, found, wanted))
    return bool(found == wanted)


def _order(found: Any, operand: Any) -> int | None:
    """Return -1, 0 or 1 for two numbers or two texts; None for other values, which are unordered."""
    if isinstance(found, bool) or isinstance(operand, bool):
        return None
    if isinstance(found, int | float) and isinstance(operand, int | float):
        return 1 if found > operand else -1 if found < operand else 0 if found == operand else None
    if isinstance(found, str) and isinstance(operand, str):
        return 0 if found == operand else 1 if found > operand else -1
    return None
