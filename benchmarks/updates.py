"""How well memory knows what is true now: ``python benchmarks/updates.py [--faults]``.

``held_out`` and ``doubts_held_out`` are what counts: the rules were tuned on the other pairs.  ``--faults`` prints what went wrong in those.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from tests.updates.score import Judged, figures, judge, pairs


def row(name: str, judged: Sequence[Judged]) -> str:
    reached = figures(judged)
    known = sum(one.was_known for one in judged if one.is_right is not None)
    return (
        f"{name:<22}{reached.right:>5} of {reached.asked:<5}{reached.current_and_alone:>8.1%}{known:>12}"
        f"{reached.wrong:>9} of {reached.kept:<5}{reached.wrong_retirements:>8.1%}"
    )


def fault(judged: Judged) -> str:
    turns = " // ".join(turn.content for turn in judged.pair.turns)
    what = (
        f"retired {judged.wrongly_retired}" if judged.wrongly_retired else f"not {judged.pair.current} alone"
    )
    return f"{judged.pair.id}: {what}\n    {turns}\n    {judged.said}"


async def main() -> None:
    print(f"{'':<22}{'current and alone':>22}{'was known':>12}{'wrongly retired':>22}")
    for name in (
        "updates",
        "tuned_on",
        "fresh",
        "everyday",
        "plain",
        "kinds",
        "doubts",
        "held_out",
        "doubts_held_out",
        "ordinary",
        "ordinary_held_out",
    ):
        judged = await judge(pairs(name))
        print(row(name, judged))
        for kind in ("update", "end", "trap"):
            print(row(f"  {kind}", [one for one in judged if one.pair.kind == kind]))
        for language in ("zh", "en"):
            print(row(f"  {language}", [one for one in judged if one.pair.language == language]))
        if "--faults" in sys.argv and not name.endswith("held_out"):
            print(*(fault(one) for one in judged if one.is_right is False or one.wrongly_retired), sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
