"""``narrowed``: the conditions on values of items that PostgreSQL can check, as one JSON path; see ``item_columns.py``."""

import json
from collections.abc import Sequence
from typing import Final

from chatmemory.items.item_condition import Condition
from chatmemory_layers.sql.item_columns import Stretch, narrowing

# $5 is the path, $6 has its variables.  PostgreSQL accepts neither NaN and Infinity in JSON nor \u0000 in text.
NARROWED: Final = r"""
CASE WHEN $5::text IS NULL OR value ~ '\\u|NaN|Infinity' THEN true
    ELSE jsonb_path_match(value::jsonb, $5::text::jsonpath, $6::text::jsonb, true) END
"""


def narrowed(conditions: Sequence[Condition]) -> tuple[str | None, str]:
    """Return the path and its variables; the path is None if PostgreSQL can check none of the conditions."""
    variables: dict[str, float | str | bool] = {}
    stretches = [each for each in narrowing(conditions) if (each.low, each.high) != (None, None)]
    parts = [_condition(each, number, variables) for number, each in enumerate(stretches, start=1)]
    return " && ".join(parts) or None, json.dumps(variables)


def _condition(stretch: Stretch, number: int, variables: dict[str, float | str | bool]) -> str:
    comparisons: list[str] = []
    for sign, end, bound in ((">=", "low", stretch.low), ("<=", "high", stretch.high)):
        if bound is not None:
            name = f"{end}_{number}"
            variables[name] = bound
            # PostgreSQL does not order true and false.
            comparisons.append(f"{{0}} {'==' if isinstance(bound, bool) else sign} ${name}")
    comparison = " && ".join(comparisons)
    return "(" + " || ".join([f"({comparison.format(path)})" for path in stretch.paths]) + ")"
