"""``KeptAnswers``: first answers in a dictionary, the simplest possible store of them."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple, TypeVar, final

from attrs import define, field

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import (
    LIFETIME,
    Recorded,
    RequestKey,
    memories_in,
    request_key,
)

A = TypeVar("A")
E = TypeVar("E")


class _Row(NamedTuple):
    """An answer, or the outcome of a write, with the memories whose words it may have."""

    request: str
    value: Any
    memory_ids: list[str]
    ends_at: datetime


@final
@define(eq=False)
class KeptAnswers:
    """Rows by user, key and number: 0 for the answer, or until there is one a row for each write."""

    _rows: dict[tuple[str, str, int], _Row] = field(factory=dict[tuple[str, str, int], _Row], init=False)

    def read(self, key: RequestKey, /) -> Recorded | None:
        """Return what is stored under *key*, by whichever request; None: nothing, or nothing any more."""
        found = self._found(key, 0)
        return None if found is None else Recorded(found.request, found.value)

    def keep(self, key: RequestKey, answer: str, /) -> None:
        """Store *answer*, JSON, under *key*, in place of the outcomes of its writes; an answer that is there stays."""
        if self._found(key, 0) is None:
            self._remove(lambda name, row: row.ends_at <= key.now or name[:2] == (key.user, key.name))
            self._add(key, 0, answer, answer)

    def once(self, operation: str, work: Callable[[], Outcome[A, E]]) -> Outcome[A, E | RepositoryError]:
        """Return the outcome of *work*, or the first outcome if it is a write of a repeated request."""
        from chatmemory.input.structure import write_json  # here: see there

        key = request_key()
        if key is None:
            return work()
        found = self._found(key, key.writes + 1)
        if found is not None and found.request != key.request:
            return Failure(RepositoryError(operation, "key_reused"))
        outcome: Outcome[A, E] = work() if found is None else found.value
        if isinstance(outcome, Success):
            key.writes += 1
            if found is None:
                self._add(key, key.writes, outcome, write_json(outcome.unwrap()))
        return outcome

    def forget(self, user: str, memory_id: str) -> None:
        """Remove what may have words of a memory."""
        self._remove(lambda name, row: name[0] == user and memory_id in row.memory_ids)

    def _found(self, key: RequestKey, number: int) -> _Row | None:
        row = self._rows.get((key.user, key.name, number))
        return row if row is not None and row.ends_at > key.now else None

    def _add(self, key: RequestKey, number: int, value: object, text: str) -> None:
        row = _Row(key.request, value, memories_in(key, text), key.now + LIFETIME)
        self._rows[key.user, key.name, number] = row

    def _remove(self, is_over: Callable[[tuple[str, str, int], _Row], bool]) -> None:
        self._rows = {name: row for name, row in self._rows.items() if not is_over(name, row)}
