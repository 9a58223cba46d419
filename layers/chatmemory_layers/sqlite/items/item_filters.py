"""``narrowed``: the conditions on item values that SQLite can check, as SQL; see ``item_columns.py``."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from chatmemory.items.item_condition import Condition
from chatmemory_layers.sql.item_columns import Stretch, narrowing

Parameters: TypeAlias = dict[str, Any]

# SQLite reads neither NaN nor Infinity as JSON, and may not find an escaped name that is not ASCII.
_NARROWED: Final = """
CASE WHEN NOT json_valid(value) OR (:has_other_script AND instr(value, '\\u')) THEN 1 ELSE {} END
"""


def narrowed(conditions: Sequence[Condition]) -> tuple[str, Parameters]:
    """Return an SQL condition on ``value`` for a WHERE clause, and its parameters."""
    parameters: Parameters = {}
    parts = [
        _condition(stretch, number, parameters)
        for number, stretch in enumerate(narrowing(conditions), start=1)
    ]
    if not parts:
        return "1", {}
    parameters["has_other_script"] = not all(condition.field.isascii() for condition in conditions)
    return _NARROWED.format(" AND ".join(parts)), parameters


def _condition(stretch: Stretch, number: int, parameters: Parameters) -> str:
    low, high = f"low_{number}", f"high_{number}"
    if stretch.low is not None:
        parameters[low] = stretch.low
    if stretch.high is not None:
        parameters[high] = stretch.high
    match (low in parameters, high in parameters):
        case (True, True):
            comparison = f"BETWEEN :{low} AND :{high}"
        case (True, False):
            comparison = f">= :{low}"
        case (False, True):
            comparison = f"<= :{high}"
        case _:
            comparison = "IS NULL"
    names = [f"path_{number}_{place}" for place in range(len(stretch.paths))]
    parameters.update(zip(names, stretch.paths, strict=True))
    return "(" + " OR ".join([f"json_extract(value, :{name}) {comparison}" for name in names]) + ")"
