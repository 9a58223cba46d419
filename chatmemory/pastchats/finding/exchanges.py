"""Makes exchanges from found turns: the question, the attempts to answer it, and whether they worked.

The turns around a hit are read.  A user's turn is a question; the assistant's turns up to the next user turn are an attempt
to answer it.  The next user turn can say that the attempt failed, so that another attempt begins; or answer a question of
the assistant, so that the attempt continues; or say that it works; or ask something new, so that the result is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chatmemory.pastchats.finding.prompt_hits import Exchange, FailedAttempt
from chatmemory.pastchats.finding.verdicts import asks_back, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.pastchats.finding.prompt_hits import PromptHit
    from chatmemory.pastchats.prompt import Prompt

TURNS_BEFORE: Final = 32  # an agent writes many turns before it is done
TURNS_AFTER: Final = 64
LONGEST_THANKS: Final = 80  # characters: "Thanks! Now add a test for ..." asks something new
LONGEST_CHOICE: Final = 120  # characters, of an answer to a question of the assistant


def exchange_of(hit: PromptHit, around: Sequence[Prompt]) -> Exchange:
    """Return the exchange of *hit*, given the turns *around* it: those of its conversation before and after it, in order."""
    turns = [turn for turn in around if turn.kind == "typed" and turn.role in ("user", "assistant")]
    place = next((index for index, turn in enumerate(turns) if turn.id == hit.prompt.id), None)
    if place is None:  # a summary, a command or the output of a tool has no question
        return Exchange(hit=hit, question=None)
    asked = _question(turns, place)
    if asked is None:
        return Exchange(hit=hit, question=None, worked=(hit.prompt,))
    return _told(hit, turns[asked:])


def merged(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return each exchange once, with its best hit, if several of its turns were found."""
    kept: dict[int, Exchange] = {}
    for exchange in exchanges:
        told = exchange.asked[0] if exchange.asked else exchange.hit.prompt
        kept.setdefault(told.id, exchange)
    return tuple(kept.values())


def _question(turns: Sequence[Prompt], place: int) -> int | None:
    """Return the index of the question that the turn at *place* is, answers, or replies to; None if there is none."""
    asked = _person(turns, place)
    while asked and turns[asked - 1].role == "assistant" and _is_reply(turns[asked], turns[asked - 1]):
        earlier = _person(turns, asked - 1)
        if earlier is None:
            break
        asked = earlier
    return asked


def _person(turns: Sequence[Prompt], place: int) -> int | None:
    """Return the index of the question that the turn at *place* belongs to; None when the user has said nothing before.

    The turns that a user writes in a row are one question; a turn after thanks begins a new one.
    """
    asked = next((index for index in range(place, -1, -1) if turns[index].role == "user"), None)
    while asked and turns[asked - 1].role == "user" and not _confirms(turns, asked - 1):
        asked -= 1
    return asked


def _confirms(turns: Sequence[Prompt], place: int) -> bool:
    """Return whether the user's turn at *place* says that the answer before it works, without asking anything."""
    if not place or turns[place - 1].role == "user" or len(turns[place].content) > LONGEST_THANKS:
        return False
    return verdict(turns[place].content, answer=turns[place - 1].content) == "worked"


def _is_reply(turn: Prompt, answer: Prompt) -> bool:
    shows = verdict(turn.content, answer=answer.content)
    if shows is None:
        return _is_choice(turn, answer)
    return shows == "failed" or len(turn.content) <= LONGEST_THANKS


def _is_choice(turn: Prompt, answer: Prompt) -> bool:
    """Return whether *turn* answers a question that the assistant asked in *answer*."""
    return len(turn.content) <= LONGEST_CHOICE and asks_back(answer.content) and not asks_back(turn.content)


def _told(hit: PromptHit, turns: Sequence[Prompt]) -> Exchange:
    """Return the exchange of the question at the start of *turns*; of several user turns in a row, the found one is used."""
    answer = next((index for index, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
    asked = tuple(turns[:answer])
    failures: list[FailedAttempt] = []
    answers: list[Prompt] = []
    confirmation: Prompt | None = None
    for turn in turns[answer:]:
        if turn.role == "assistant":
            answers.append(turn)
        elif failures and not answers and turn.id == hit.prompt.id:
            failures[-1] = FailedAttempt(failures[-1].tried, turn)
        elif answers:
            shows = verdict(turn.content, answer=answers[-1].content)
            if shows == "failed":
                failures.append(FailedAttempt(tuple(answers), turn))
                answers = []
            elif shows == "worked":
                confirmation = turn
                break
            elif not _is_choice(turn, answers[-1]):
                break
    return Exchange(
        hit=hit,
        question=next((turn for turn in asked if turn.id == hit.prompt.id), asked[0]),
        asked=asked,
        worked=tuple(answers),
        confirmation=confirmation,
        failures=tuple(failures),
    )
