"""``fits``: whether a value fulfils a filter of LangGraph, compared as JSON, on every backend alike.

A filter names fields, or paths of fields (``a.b``), and what each has to be: a value, or operators
(``{"$gte": 18, "$lt": 65}``) of which all have to hold.  No field is an error; one that is missing is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeGuard

Fits: TypeAlias = Callable[[Any], bool]


def fits(conditions: Mapping[str, Any]) -> Fits:
    """Return what tells whether a value fulfils all of *conditions*.

    >>> is_adult_in_berlin = fits({"city": "Berlin", "age": {"$gte": 18}})
    >>> is_adult_in_berlin({"city": "Berlin", "age": 20}), is_adult_in_berlin({"city": "Berlin"})
    (True, False)

    Raises:
        ValueError: there is no such operator.
    """
    tests = [(field, _test(wanted)) for field, wanted in conditions.items()]
    return lambda value: all(test(_at(value, field)) for field, test in tests)


def _at(value: Any, field: str) -> Any:
    """Return the field of that name, or what stands at that path; None when there is none."""
    if _is_object(value) and field in value:
        return value[field]
    here = value
    for name in field.split("."):
        here = here.get(name) if _is_object(here) else None
    return here


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _test(wanted: Any) -> Fits:
    if _is_object(wanted) and any(name.startswith("$") for name in wanted):
        tests = [_comparison(name, operand) for name, operand in wanted.items()]
        return lambda found: all(test(found) for test in tests)
    return lambda found: _is_same(found, wanted)


def _comparison(operator: str, operand: Any) -> Fits:
    match operator:
        case "$eq":
            return lambda found: _is_same(found, operand)
        case "$ne":
            return lambda found: not _is_same(found, operand)
        case "$gt":
            return lambda found: _order(found, operand) == 1
        case "$gte":
            return lambda found: _order(found, operand) in {0, 1}
        case "$lt":
            return lambda found: _order(found, operand) == -1
        case "$lte":
            return lambda found: _order(found, operand) in {0, -1}
        case _:
            msg = f"Unsupported operator: {operator}; there are $eq, $ne, $gt, $gte, $lt and $lte"
            raise ValueError(msg)


def _is_same(found: Any, wanted: Any) -> bool:
    """Tell whether two values are one in JSON: ``1`` is ``1.0``, and not ``true``."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if _is_object(found) and _is_object(wanted):
        return found.keys() == wanted.keys() and all(_is_same(found[name], wanted[name]) for name in found)
    if _is_array(found) and _is_array(wanted):
        return len(found) == len(wanted) and all(map(_is_same, found, wanted))
    return bool(found == wanted)


def _order(found: Any, operand: Any) -> Literal[-1, 0, 1] | None:
    """Compare two numbers or two texts; None: they have no order."""
    if isinstance(found, bool) or isinstance(operand, bool):
        return None
    if isinstance(found, int | float) and isinstance(operand, int | float):
        return 1 if found > operand else -1 if found < operand else 0 if found == operand else None
    if isinstance(found, str) and isinstance(operand, str):
        return 0 if found == operand else 1 if found > operand else -1
    return None
