"""Exchanges: from turns that were found to what was asked, what was answered, and what came of it.

The turns around a hit tell.  A person's turn is a question; the turns of the assistant up to the next one are the
attempt at it; the next one may show that the attempt failed, and then the attempts go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from chatmemory.pastchats.verdicts import verdict
from chatmemory.prompt_hits import Exchange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.prompt import Prompt
    from chatmemory.prompt_hits import PromptHit

TURNS_BEFORE: Final = 12
TURNS_AFTER: Final = 24  # some six attempts
LONGEST_THANKS: Final = 80  # characters: "Thanks! Now add a test for ..." asks something new
LEAST_ANSWER: Final = 40  # characters: "Done." tells nobody what worked


class _Attempt(NamedTuple):
    """What was tried, and the person's turn after it."""

    answers: tuple[Prompt, ...]
    reply: Prompt | None

    def answer(self, found: Prompt | None = None) -> Prompt:
        """Return the turn that says most: the one that was *found*, or the last of some length."""
        if found is not None and any(answer.id == found.id for answer in self.answers):
            return found
        telling = [answer for answer in self.answers if len(answer.content) >= LEAST_ANSWER]
        return telling[-1] if telling else max(self.answers, key=lambda answer: len(answer.content))

    def verdict(self) -> str | None:
        if self.reply is None:
            return None
        return verdict(self.reply.content, answer=self.answers[-1].content)


def exchange_of(hit: PromptHit, around: Sequence[Prompt]) -> Exchange:
    """Return the exchange that *hit* belongs to, *around* being the turns of its conversation before and after it."""
    turns = [turn for turn in around if turn.role in ("user", "assistant")]
    place = next((index for index, turn in enumerate(turns) if turn.id == hit.prompt.id), None)
    if place is None:  # a summary, or what a tool printed: it stands for itself
        return Exchange(hit=hit, question=None, answer=None)
    asked = _question(turns, place)
    if asked is None:
        return Exchange(hit=hit, question=None, answer=hit.prompt)
    attempts = _attempts(turns, asked)
    if not attempts:
        return Exchange(hit=hit, question=turns[asked], answer=None)
    return _judged(hit, turns[asked], attempts)


def merged(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return each exchange once, where several of its turns were found, by its best hit."""
    kept: dict[int, Exchange] = {}
    for exchange in exchanges:
        told = exchange.question or exchange.hit.prompt
        kept.setdefault(told.id, exchange)
    return tuple(kept.values())


def _question(turns: Sequence[Prompt], place: int) -> int | None:
    """Return the place of the question that the turn at *place* is, answers, complains about or gives thanks for."""
    asked = next((index for index in range(place, -1, -1) if turns[index].role == "user"), None)
    while asked is not None and asked > 0:
        answer = turns[asked - 1]
        if answer.role != "assistant" or not _is_reply(turns[asked], answer):
            break
        earlier = next((index for index in range(asked - 1, -1, -1) if turns[index].role == "user"), None)
        if earlier is None:
            break
        asked = earlier
    return asked


def _is_reply(turn: Prompt, answer: Prompt) -> bool:
    shows = verdict(turn.content, answer=answer.content)
    return shows == "failed" or (shows == "worked" and len(turn.content) <= LONGEST_THANKS)


def _attempts(turns: Sequence[Prompt], asked: int) -> list[_Attempt]:
    """Return the attempts at the question at *asked*: one, and another for each reply that shows a failure."""
    attempts: list[_Attempt] = []
    at = asked + 1
    # A thought that was added before any answer belongs to the question.
    while at < len(turns) and turns[at].role == "user":
        at += 1
    while at < len(turns):
        end = next((index for index in range(at, len(turns)) if turns[index].role == "user"), len(turns))
        if end == at:
            break
        reply = turns[end] if end < len(turns) else None
        attempts.append(_Attempt(tuple(turns[at:end]), reply))
        if attempts[-1].verdict() != "failed":
            break
        at = end + 1
    return attempts


def _judged(hit: PromptHit, question: Prompt, attempts: list[_Attempt]) -> Exchange:
    first, last = attempts[0], attempts[-1]
    if first.verdict() != "failed":
        return Exchange(hit=hit, question=question, answer=first.answer(hit.prompt))
    if last.verdict() == "failed":
        tried = last.answer(hit.prompt)
        return Exchange(hit=hit, question=question, answer=tried, failure=last.reply, failed=tried)
    return Exchange(
        hit=hit, question=question, answer=last.answer(hit.prompt), failure=first.reply, failed=first.answer()
    )
