"""``narrowing``: what the databases can be asked about conditions on values, before Python compares what they leave.

They may leave too much, for ``ItemSearch.admits`` decides, but never too little: nothing is asked where the JSON of a
database and that of Python could differ.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from chatmemory.items.item_condition import Condition

_PLAIN: Final = re.compile(r"[\w-]+")  # a name that a path may quote
_MARGIN: Final = 1e-9  # a database may read digits into numbers a little differently


@frozen
class Stretch:
    """The range in which a field has to be.

    Attributes:
        paths: the places of the field, as SQLite and PostgreSQL both write them; one of them has to fulfil the condition.
        low: the lower bound; None: there is none.  When *low* and *high* are both None, the field has to be null.
        high: the upper bound; None: there is none.
    """

    paths: tuple[str, ...]
    low: float | str | bool | None
    high: float | str | bool | None


def narrowing(conditions: Sequence[Condition]) -> list[Stretch]:
    """Return what has to hold of fields, of as many as can be asked about."""
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
    """Return two values between which everything stands that is *operand* to Python; None: there are no such."""
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
