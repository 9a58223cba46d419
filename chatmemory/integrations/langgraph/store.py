"""``ChatMemoryStore``: reads, gathers and runs operations of LangGraph; ``steps.py`` and ``answers.py`` implement them.

``TtlSweeper`` removes expired items at intervals, in a separate thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from itertools import chain, islice
from threading import Event, Thread
from typing import Final, final
from weakref import WeakKeyDictionary, WeakMethod

from langgraph.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig, ensure_embeddings

from chatmemory.effect import EffectFailed, EffectInterrupted, Runner, Success
from chatmemory.embedding.unit_vectors import read_rows, usable_rows
from chatmemory.integrations.langgraph.answers import Batch, Needs, Vectors, answered, swept
from chatmemory.integrations.langgraph.gathering import Gathering
from chatmemory.integrations.langgraph.steps import Indexing, Put, Step, read_steps
from chatmemory.integrations.raising import Blocking, Raising

log = logging.getLogger(__name__)
RAISING: Final = Raising(refused=ValueError, failed=RuntimeError, closed=RuntimeError)
_USERS_MODEL: Final = "langgraph index"
_Gathering = Gathering[Sequence[Step], list[Result]]


class ChatMemoryStore(BaseStore):
    """Items by namespace and key, found by filters and by meaning.

    *runtime* provides the store of chatmemory: a ``ThreadRuntime`` works with every method, in any event loop and
    without one; a ``ManagedRuntime`` works with awaited methods, in its own loop, faster.  The store does not close
    it.

    With *index*, only that embedding function decides what a query finds, by cosine; without it, the embedder and the
    words of chatmemory do.  *ttl* gives items a default lifetime.

    A query finds all indexed items, best first, with a score, as every store of LangGraph does.

    Reads of a batch return the state before its puts, which are stored all or none; an awaited batch with puts that
    is cancelled ends when they are stored, or are not.  Simultaneous requests of the tasks of one event loop run
    together, and of several puts of one name the last request counts.  A failure of the store raises ``RuntimeError``
    with chatmemory's own message (``__cause__.error`` is the failure as a value); an item that cannot be stored
    raises ``ValueError`` or ``TypeError``.
    """

    supports_ttl = True

    def __init__(
        self, runtime: Runner[Needs], *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> None:
        """Store the arguments; nothing is opened yet.

        Raises:
            ValueError: *index* asks for another distance than the cosine.
        """
        distance = (index or {}).get("distance_type", "cosine")
        if distance != "cosine":
            msg = f"distance_type {distance!r}: vectors are compared by their cosine here"
            raise ValueError(msg)
        self.ttl_config = ttl
        self.index_config = index
        self._runtime = runtime
        self._blocking = Blocking(runtime)
        self._sweeper: TtlSweeper | None = None
        self._gatherings = WeakKeyDictionary[asyncio.AbstractEventLoop, _Gathering]()
        self.embeddings = None if index is None else ensure_embeddings(index.get("embed"))
        self._dims = None if index is None else index.get("dims")
        self._indexing = Indexing() if index is None else Indexing.by(index)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run *ops*, block this thread, and return their results in the order of the ops."""
        batch = Batch.of(read_steps(ops, self._indexing))
        vectors = None
        if self.embeddings is not None:
            rows = self.embeddings.embed_documents(list(batch.texts)) if batch.texts else []
            vectors = self._checked([*rows, *map(self.embeddings.embed_query, batch.queries)], batch)
        return RAISING.run_blocking(self._blocking.here(), answered(batch, vectors))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run *ops*, and return their results in the order of the ops; simultaneous requests of other tasks run with them."""
        steps = read_steps(ops, self._indexing)
        loop = asyncio.get_running_loop()
        gathering = self._gatherings.get(loop)
        if gathering is None:
            gathering = self._gatherings[loop] = Gathering(self._answer_all, is_of_one=_is_of_one)
        return await gathering.ask(steps, writes=Put in map(type, steps))

    def sweep_ttl(self) -> int:
        """Remove the items whose lifetime has ended, and return their number."""
        return self._sweep()

    async def asweep_ttl(self) -> int:
        """Remove the items whose lifetime has ended, and return their number."""
        return await RAISING.run(self._runtime, swept())

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep repeatedly in a thread, every *sweep_interval_minutes* (by default as in ``ttl``, or 5).

        To stop it, cancel the returned future, or call ``stop_ttl_sweeper``.  Without ``ttl`` there is nothing to do.
        """
        self._blocking.check_elsewhere()
        if self._sweeper is None or not self._sweeper.is_alive():
            configured = (self.ttl_config or {}).get("sweep_interval_minutes")
            self._sweeper = TtlSweeper(
                WeakMethod(self._sweep), 60 * float(sweep_interval_minutes or configured or 5)
            )
            if self.ttl_config is None:
                self._sweeper.done.set_result(None)
            else:
                self._sweeper.start()
        return self._sweeper.done

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; return False when the sweeper still runs after *timeout* seconds."""
        return self._sweeper is None or self._sweeper.stop(timeout)

    def _sweep(self) -> int:
        return RAISING.run_blocking(self._blocking.here(), swept())

    async def _answer_all(self, requests: Sequence[Sequence[Step]]) -> Sequence[list[Result]]:
        batch = Batch.of([*chain.from_iterable(requests)])
        vectors = None
        if self.embeddings is not None:
            rows = await self.embeddings.aembed_documents(list(batch.texts)) if batch.texts else []
            asked = [await self.embeddings.aembed_query(query) for query in batch.queries]
            vectors = self._checked([*rows, *asked], batch)
        results = iter(await RAISING.run(self._runtime, answered(batch, vectors)))
        return [list(islice(results, len(steps))) for steps in requests]

    def _checked(self, rows: Sequence[Sequence[float]], batch: Batch) -> Vectors:
        """Return the vectors of the user's own embedding function, at length 1."""
        due = len(batch.texts) + len(batch.queries)
        outcome = read_rows(_USERS_MODEL, rows, count=due, dim=self._dims)
        if isinstance(outcome, Success):
            return Vectors.of(batch, _USERS_MODEL, usable_rows(outcome.unwrap()), has_words=False)
        raise ValueError(str(outcome.failure()))


def _is_of_one(failure: Exception) -> bool:
    """Return whether *failure* came from the user's function, possibly because of one text, and not from the store."""
    return not isinstance(failure.__cause__, EffectFailed | EffectInterrupted)


@final
class TtlSweeper(Thread):
    """Calls *sweep* every *seconds* until it is stopped; it holds only a weak reference to the object of *sweep*.

    Attributes:
        done: is done when the thread ends; cancelling it ends the thread.
    """

    def __init__(self, sweep: WeakMethod[Callable[[], int]], seconds: float) -> None:
        """Prepare the thread; ``start`` starts it."""
        super().__init__(name="chatmemory sweeper", daemon=True)
        self.done = Future[None]()
        self._sweep = sweep
        self._seconds = seconds
        self._shall_stop = Event()
        self.done.add_done_callback(lambda _: self._shall_stop.set())

    def run(self) -> None:
        """Sweep repeatedly; a failure is logged, because the next sweep may succeed."""
        while not self._shall_stop.wait(self._seconds):
            sweep = self._sweep()
            if sweep is None:
                break
            try:
                sweep()
            except Exception as error:  # noqa: BLE001  the thread must go on after a failure
                log.warning("items whose time is over could not be removed: %s", error)
            del sweep
        if self.done.set_running_or_notify_cancel():
            self.done.set_result(None)

    def stop(self, timeout: float | None) -> bool:
        """End the thread; return False when it still runs after *timeout* seconds."""
        self._shall_stop.set()
        if self.is_alive():
            self.join(timeout)
        return not self.is_alive()
