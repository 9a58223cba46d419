"""``SuiteReport``: what a run has measured, as a Markdown table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from attrs import frozen

from chatmemory.input.json_value import JsonObject
from chatmemory.programs.bench.measuring import COLUMNS, BenchRow
from chatmemory.programs.bench.own_questions import Suite


@final
@frozen
class SuiteReport:
    """The rows of one suite, and the data on which they were measured."""

    name: str
    sha256: str
    conversations: int
    turns: int
    questions: int
    embedder: str
    rows: tuple[BenchRow, ...]

    @classmethod
    def of(cls, suite: Suite, rows: Sequence[BenchRow], *, label: str, embedder: str) -> SuiteReport:
        """Return the report of *suite*.

        Args:
            suite: the conversations and their questions.
            rows: the figures of each way of searching.
            label: the name of the suite in the report.
            embedder: the name of the model that made the vectors.
        """
        asked = [one for one in suite.conversations if one.questions]
        turns = sum(len(one.turns) for one in asked)
        return cls(label, suite.sha256, len(asked), turns, suite.questions, embedder, tuple(rows))


def as_markdown(reports: Sequence[SuiteReport]) -> str:
    """Return a Markdown table for each of *reports*; figures are in percent, with intervals of 95 %."""
    return "\n\n".join(map(_markdown, reports))


def as_object(reports: Sequence[SuiteReport]) -> JsonObject:
    """Return *reports* as a JSON object."""
    return {"suites": [_object(report) for report in reports]}


def _markdown(report: SuiteReport) -> str:
    head = ("", *COLUMNS, "per question")
    rows = [
        (row.way, *(str(row.figures[column]) for column in COLUMNS), f"{row.milliseconds:.1f} ms")
        for row in report.rows
    ]
    lines = [" | ".join(cells) for cells in (head, tuple("-" for _ in head), *rows)]
    table = "\n".join(f"| {line.strip()} |" if line.strip() else line for line in lines)
    told = (
        f"{report.questions} questions about {report.turns} turns of {report.conversations} conversations; "
        f"{report.embedder}; sha256 {report.sha256[:16]}"
    )
    return f"### {report.name}\n\n{table}\n\n{told}"


def _object(report: SuiteReport) -> JsonObject:
    return {
        "name": report.name,
        "sha256": report.sha256,
        "conversations": report.conversations,
        "turns": report.turns,
        "questions": report.questions,
        "embedder": report.embedder,
        "rows": [
            {
                "way": row.way,
                "milliseconds": round(row.milliseconds, 3),
                "figures": {
                    column: {"mean": round(one.mean, 2), "low": round(one.low, 2), "high": round(one.high, 2)}
                    for column, one in row.figures.items()
                },
            }
            for row in report.rows
        ],
    }
