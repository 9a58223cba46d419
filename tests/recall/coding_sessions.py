"""Labelled sessions with coding agents, English and Chinese: what was said, what is asked of it later, what came of it.

``coding_sessions_*.txt`` hold them to be read and written by people.  ``=== name`` begins a session, ``u0: `` and ``a1: ``
a turn of the user and of the assistant, ``? 1 3 | ...`` a question with the numbers of the turns that answer it, the best
first, and ``! worked 3 failed 1`` says which turn a recall must show as what worked and as what failed; ``-`` for none.
"""

import re
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from tests.searched import said

FOLDER: Final = Path(__file__).parent
_TURN: Final = re.compile(r"([ua])(\d+): (.*)", re.DOTALL)
_LABEL: Final = re.compile(r"! worked (\d+|-) failed (\d+|-)")


@frozen
class Asked:
    """A question, and the texts of the turns that answer it."""

    text: str
    answers: frozenset[str]


@frozen
class Session:
    """A session, the questions about it, and what came of it."""

    name: str
    turns: tuple[PromptDraft, ...]
    questions: tuple[Asked, ...]
    worked: str | None
    failed: str | None


def sessions(language: str) -> tuple[Session, ...]:
    """Return the sessions in English ("en") or Chinese ("zh")."""
    text = (FOLDER / f"coding_sessions_{language}.txt").read_text(encoding="utf-8")
    return tuple(_session(part) for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:])


def _session(written: str) -> Session:
    name, *parts = re.split(r"\n(?=[ua]\d+: |[?!] )", written.strip())
    read = [found.groups() for part in parts if (found := _TURN.fullmatch(part))]
    turns = tuple(
        evolve(said(text.strip(), number=place, talk=name), role="user" if who == "u" else "assistant")
        for place, (who, _, text) in enumerate(read)
    )
    assert [int(number) for _, number, _ in read] == list(range(len(turns))), name

    def text_of(number: str) -> str | None:
        return None if number == "-" else turns[int(number)].content

    questions: list[Asked] = []
    for part in parts:
        if part.startswith("? "):
            numbers, _, question = part[2:].partition(" | ")
            questions.append(Asked(question, frozenset(turns[int(one)].content for one in numbers.split())))
    label = _LABEL.fullmatch(parts[-1])
    assert label is not None, name
    return Session(name, turns, tuple(questions), text_of(label[1]), text_of(label[2]))
