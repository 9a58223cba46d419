"""``narrowing``: the part of conditions on values that a database can check, before Python checks the remaining items.

A database may leave too many items, because ``ItemSearch.admits`` decides, but never too few.  So it checks nothing where
its JSON and Python's JSON could differ.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from chatmemory.items.item_condition import Condition

_PLAIN: Final = re.compile(r"[\w-]+")  # a name that a path can quote
_MARGIN: Final = 1e-9  # a database may parse numbers slightly differently


@frozen
class Stretch:
    """The range in which the value of a field must be.

    Attributes:
        paths: the paths of the field, valid in SQLite and PostgreSQL; the value at one of them has to meet the condition.
        low: the lower bound; None: there is none.  When *low* and *high* are both None, the value has to be null.
        high: the upper bound; None: there is none.
    """

    paths: tuple[str, ...]
    low: float | str | bool | None
    high: float | str | bool | None


def narrowing(conditions: Sequence[Condition]) -> list[Stretch]:
    """Return the ranges that *conditions* require, for the fields that a database can check."""
    stretches: list[Stretch] = []
    for condition in conditions:
        names = condition.field.split(".")
        if condition.relation == "is not" or not all(map(_PLAIN.fullmatch, names)):
            continue
        is_equal, operand = condition.relation == "is", condition.operand
        paths = _paths(condition.field, names)
        if operand is None or isinstance(operand, bool):
            if is_equal:
                stretches.append(Stretch(paths, operand, operand))
        elif (bounds := _bounds(operand)) is not None:
            low, high = bounds
            has_low, has_high = (
                condition.relation in {"above", "at least"},
                condition.relation in {"below", "at most"},
            )
            stretches.append(
                Stretch(paths, low if is_equal or has_low else None, high if is_equal or has_high else None)
            )
    return stretches


def _paths(field: str, names: Sequence[str]) -> tuple[str, ...]:
    below = "$" + "".join([f'."{name}"' for name in names])
    return (below,) if len(names) == 1 else (below, f'$."{field}"')


def _bounds(operand: Any) -> tuple[float, float] | tuple[str, str] | None:
    """Return two bounds for all values that equal *operand* in Python; None when bounds cannot be given."""
    if isinstance(operand, str):
        is_text = "\0" not in operand and not any("\ud800" <= character <= "\udfff" for character in operand)
        return (operand, operand) if is_text else None
    if not isinstance(operand, int | float):
        return None
    try:
        number = float(operand)
    except OverflowError:
        return None
    margin = abs(number) * _MARGIN
    return (number - margin, number + margin) if math.isfinite(2 * number) else None
