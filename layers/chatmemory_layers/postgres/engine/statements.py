"""``planned_once``: keeps the server from planning a large statement again for each call."""

import re
from typing import Final

_ARRAY: Final = re.compile(r"\$(\d+)((?:::[a-z ]+\[\])+)")


def planned_once(statement: str) -> str:
    """Return *statement* with its array parameters in subqueries, where the planner does not see their lengths.

    A plan for arrays of one element looks cheaper than the generic plan, so that the server would plan each call of a
    single write again; that takes longer than the write.
    """
    return _ARRAY.sub(r"(SELECT $\1\2)", statement)
