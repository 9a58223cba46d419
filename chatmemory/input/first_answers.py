"""``FirstAnswers``: stores the first answer to each request with an idempotency key, for those who send the request again.

While a request runs ``under`` its key, the store also keeps the outcome of each of its writes, in the transaction of the
write.  So a request whose program ended before it answered is not done twice either: when it is sent again, each write
returns the outcome of the first time.  None is not kept: such a write has found nothing to do, and may find it the next time.

``KeptAnswers`` keeps both in a dictionary, for the store in memory.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any, Final, NamedTuple, Protocol, TypeVar, final, get_args, get_type_hints

from attrs import define, field, frozen

from chatmemory.effect import Effect, Failure, Outcome, Success, Tag
from chatmemory.errors import RepositoryError
from chatmemory.input.json_value import Json
from chatmemory.input.structure import write_json

LIFETIME: Final = timedelta(days=7)
"""How long an answer is stored."""

A = TypeVar("A")
E = TypeVar("E")


@final
@define(eq=False, kw_only=True)
class RequestKey:
    """A request that may be sent again.

    Attributes:
        user: the user who sent it.
        name: its key, with the operation and the place that it belongs to.
        request: a digest of the request; another request must not use the key.
        memory_id: the memory that the request is about, if its answer may have words of it.
        now: when it was sent, UTC.
        writes: how many of its writes are committed.
    """

    user: str
    name: str
    request: str
    memory_id: str | None = None
    now: datetime
    writes: int = 0


@final
@frozen
class Recorded:
    """What the store has under a key.

    Attributes:
        request: the digest of the request.
        value: JSON.
        is_answer: whether *value* is the answer; otherwise it is the outcome of the first write.
    """

    request: str
    value: str
    is_answer: bool = True


class FirstAnswers(Protocol):
    """Stores answers.  Every method is one transaction."""

    def read(self, key: RequestKey, /) -> Effect[Recorded | None, RepositoryError]:
        """Return what is stored under *key*, by whichever request; None: nothing, or nothing any more."""
        ...

    def keep(self, key: RequestKey, answer: str, /) -> Effect[Recorded, RepositoryError]:
        """Store *answer*, JSON, under *key*, unless it has an answer; return the stored one.

        The outcomes of its writes stay: another program may have begun the same request before this answer was stored.
        """
        ...


class KeepsAnswers(Protocol):
    """A repository whose store has the first answers, and the outcomes of writes under a key."""

    @property
    def answers(self) -> FirstAnswers:
        """The first answers of the store, the same for all its repositories."""
        ...


class FirstAnswersTag(Tag[FirstAnswers]):
    """The tag under which layers provide ``FirstAnswers``."""


_running: ContextVar[RequestKey | None] = ContextVar("chatmemory.request_key", default=None)

request_key: Final[Callable[[], RequestKey | None]] = _running.get
"""Returns the key of the running request; None: its writes are done each time they are called."""


@contextmanager
def under(key: RequestKey | None) -> Generator[None]:
    """Run the block as a part of the request *key*; None: as a part of no request."""
    token = _running.set(key)
    try:
        yield
    finally:
        _running.reset(token)


def memories_in(key: RequestKey, value: str) -> list[str]:
    """Return the ids of the memories whose words may be in *value*, JSON: a program that forgets one removes the value, too."""
    found = [] if key.memory_id is None else [key.memory_id]
    return found + ([*_retired(json.loads(value))] if '"retired": [{' in value else [])


def _retired(value: Json) -> Iterator[str]:
    """Yield the ids of memories that were retired, each beside its attribute, which may be words of it."""
    if isinstance(value, Mapping):
        for name, inside in value.items():
            if name == "retired" and isinstance(inside, list):
                yield from (str(one["id"]) for one in inside if isinstance(one, Mapping))
            yield from _retired(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _retired(inside)


def digest(asked: Json) -> str:
    """Return a digest that is equal for equal requests; the order of names does not matter."""
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


@cache
def outcome_kind(work: Callable[..., Any]) -> Any:
    """Return the type of what *work* returns when it succeeds, from its annotations."""
    success, _ = get_args(get_type_hints(work)["return"])
    (kind,) = get_args(success)
    return kind


class _Row(NamedTuple):
    """An answer, or the outcome of a write, with the memories whose words it may have."""

    request: str
    value: Any
    memory_ids: list[str]
    ends_at: datetime


@final
@define(eq=False)
class KeptAnswers:
    """Rows by user, key and number: 0 for the answer, and one for the outcome of each write."""

    _rows: dict[tuple[str, str, int], _Row] = field(factory=dict[tuple[str, str, int], _Row], init=False)

    def read(self, key: RequestKey, /) -> Recorded | None:
        """Return what is stored under *key*, by whichever request; None: nothing, or nothing any more."""
        found = self._found(key, 0)
        return None if found is None else Recorded(found.request, found.value)

    def keep(self, key: RequestKey, answer: str, /) -> Recorded:
        """Store *answer*, JSON, under *key*, unless it has an answer; return the stored one."""
        found = self.read(key)
        if found is not None:
            return found
        self._remove(lambda _, row: row.ends_at <= key.now)
        self._add(key, 0, answer, answer)
        return Recorded(key.request, answer)

    def once(self, operation: str, work: Callable[[], Outcome[A, E]]) -> Outcome[A, E | RepositoryError]:
        """Return the outcome of *work*, or the first outcome if it is a write of a repeated request."""
        key = request_key()
        if key is None:
            return work()
        found = self._found(key, key.writes + 1)
        if found is not None and found.request != key.request:
            return Failure(RepositoryError(operation, "key_reused"))
        outcome: Outcome[A, E] = work() if found is None else found.value
        if isinstance(outcome, Success):
            key.writes += 1
            if found is None and outcome.unwrap() is not None:
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
