"""``ChatMemoryStore``: the long-term store of LangGraph (``BaseStore``), kept by chatmemory.

    store = ChatMemoryStore(ThreadRuntime(stacks.embedded("memory.db")))
    graph = builder.compile(store=store)

Its items stand beside conversations and memories in the same store, in tables of their own (``ItemRepository``), and not
among the memories: LangGraph rewrites an item in its place, where a memory is superseded and leaves its past behind; its
namespaces are paths, not a user and an app; and a batch may touch many of them in one transaction.

What is put can be found by its meaning and by its words, in the embedder of the store, unless ``index`` names another.
A filter is a comparison of JSON, never SQL.  An item whose time is over is gone at once; ``sweep_ttl`` removes its row.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, cast, runtime_checkable
from weakref import WeakKeyDictionary, WeakMethod

from attrs import frozen
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from chatmemory.contracts import (
    EmbedderTag,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    ItemSearch,
    Labels,
    StoredItem,
    Vector,
)
from chatmemory.effect import Do, Effect, EffectFailed, EffectInterrupted, Outcome, Runner, Success
from chatmemory.effect.clock import ClockTag
from chatmemory.errors import RepositoryError
from chatmemory.integrations.gathering import Gathering
from chatmemory.integrations.json_filter import Fits, fits
from chatmemory.integrations.to_its_end import to_its_end
from chatmemory.integrations.ttl_sweeper import TtlSweeper
from chatmemory.longterm.unit_vectors import read_rows, usable_rows
from chatmemory.search_terms import memory_terms, query_terms

if TYPE_CHECKING:
    from concurrent.futures import Future

A = TypeVar("A")

Needs: TypeAlias = ItemRepositoryTag | EmbedderTag

LONGEST_MINUTES: Final = 1000 * 366 * 1440.0  # a date can be named for its end


@runtime_checkable
class _BlockingRunner(Protocol):
    def run_blocking(self, effect: Effect[A, Any, Any], /) -> Outcome[A, Any]: ...


@frozen
class _Draft:
    """What a put comes to; *texts* are embedded."""

    name: ItemName
    value: str | None
    terms: str | None = None
    texts: tuple[str, ...] = ()
    lifetime: timedelta | None = None


@frozen
class _Plan:
    """A batch that obeys the rules.  Of two puts of one name the last counts."""

    ops: tuple[Op, ...]
    drafts: tuple[_Draft, ...]
    queries: tuple[str, ...]
    filters: tuple[Fits | None, ...]

    @property
    def texts(self) -> list[str]:
        """What is embedded of the puts."""
        return [text for draft in self.drafts for text in draft.texts]


def _merged(plans: Sequence[_Plan]) -> _Plan:
    """Return one plan that does what all of them do."""
    if len(plans) == 1:
        return plans[0]
    drafts: dict[ItemName, _Draft] = {}
    for draft in chain.from_iterable(plan.drafts for plan in plans):
        drafts.pop(draft.name, None)
        drafts[draft.name] = draft
    return _Plan(
        ops=tuple(chain.from_iterable(plan.ops for plan in plans)),
        drafts=tuple(drafts.values()),
        queries=tuple(chain.from_iterable(plan.queries for plan in plans)),
        filters=tuple(chain.from_iterable(plan.filters for plan in plans)),
    )


@frozen
class _Vectors:
    """A row for each text, then one for each query; None: it has none."""

    model: str
    rows: tuple[Vector | None, ...]


class ChatMemoryStore(BaseStore):
    """Items by namespace and key, found by filters and by meaning.

    *runtime* gives the store of chatmemory: a ``ThreadRuntime`` serves every method, in any event loop and in none; a
    ``ManagedRuntime`` those that are awaited, in its own loop, faster.  It belongs to whoever made it.

    With *index*, that embedding function alone decides what a query finds, by cosine; without, both the embedder and
    the words of chatmemory do.  *ttl* gives items a lifetime by default.

    A query finds all that is indexed, the best first, with a score, as every store of LangGraph does.

    Reads of a batch see what was there before its puts, which are stored all or none; an awaited
    batch with puts that is cancelled ends when they are stored, or are not.  What tasks of one event loop ask for at the
    same time is done together, and of puts of one name the last that was asked for counts.  What fails beneath raises
    ``RuntimeError`` with chatmemory's own words (``__cause__.error`` is the failure as a value), what cannot be stored
    ``ValueError`` or ``TypeError``.
    """

    supports_ttl = True

    def __init__(
        self, runtime: Runner[Needs], *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> None:
        """Open nothing yet.

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
        self._sweeper: TtlSweeper | None = None
        self._gatherings = WeakKeyDictionary[asyncio.AbstractEventLoop, Gathering[_Plan, list[Result]]]()
        self.embeddings = None if index is None else ensure_embeddings(index.get("embed"))
        self._dims = None if index is None else index.get("dims")
        self._paths = None if index is None else _paths(index)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run *ops* while this thread waits, and return their results in the order of the ops."""
        plan = self._plan(ops)
        vectors = None
        if self.embeddings is not None:
            texts = plan.texts
            rows = self.embeddings.embed_documents(texts) if texts else []
            vectors = self._checked([*rows, *map(self.embeddings.embed_query, plan.queries)], plan)
        return self._run_blocking(_answered(plan, vectors))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run *ops*, and return their results in the order of the ops; what other tasks ask meanwhile is run with them."""
        plan = self._plan(ops)
        loop = asyncio.get_running_loop()
        gathering = self._gatherings.get(loop)
        if gathering is None:
            gathering = self._gatherings[loop] = Gathering(
                self._answer_all, is_of_one=_is_of_the_users_function
            )
        asking = gathering.ask(plan)
        return await (to_its_end(asking) if plan.drafts else asking)

    def sweep_ttl(self) -> int:
        """Remove the items whose time is over, and return how many went."""
        return self._sweep()

    async def asweep_ttl(self) -> int:
        """Remove the items whose time is over, and return how many went."""
        return await self._run(_swept())

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep again and again, every *sweep_interval_minutes* (or as ``ttl`` says, or 5), in a thread of its own.

        Cancel what is returned, or call ``stop_ttl_sweeper``.  Without ``ttl`` there is nothing to do.
        """
        self._blocking()
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
        """Stop sweeping; False when the sweeper still runs after *timeout* seconds."""
        return self._sweeper is None or self._sweeper.stop(timeout)

    def _sweep(self) -> int:
        return self._run_blocking(_swept())

    async def _answer_all(self, plans: Sequence[_Plan]) -> Sequence[list[Result]]:
        plan = _merged(plans)
        vectors = None
        if self.embeddings is not None:
            texts = plan.texts
            rows = await self.embeddings.aembed_documents(texts) if texts else []
            asked = [await self.embeddings.aembed_query(query) for query in plan.queries]
            vectors = self._checked([*rows, *asked], plan)
        results = iter(await self._run(_answered(plan, vectors)))
        return [list(islice(results, len(each.ops))) for each in plans]

    async def _run(self, effect: Effect[A, RepositoryError, Needs]) -> A:
        try:
            return _unwrapped(await self._runtime.run(effect))
        except EffectInterrupted as closed:
            raise RuntimeError(_CLOSED) from closed
        except EffectFailed as failed:  # while the runtime was opening
            raise RuntimeError(str(failed.error)) from failed

    def _run_blocking(self, effect: Effect[A, RepositoryError, Needs]) -> A:
        try:
            return _unwrapped(self._blocking().run_blocking(effect))
        except EffectInterrupted as closed:
            raise RuntimeError(_CLOSED) from closed
        except EffectFailed as failed:
            raise RuntimeError(str(failed.error)) from failed

    def _blocking(self) -> _BlockingRunner:
        if isinstance(self._runtime, _BlockingRunner):
            return self._runtime
        msg = "this store can only be awaited (aget, aput, ...): give it a ThreadRuntime for calls that block"
        raise TypeError(msg)

    def _plan(self, ops: Iterable[Op]) -> _Plan:
        every = tuple(ops)
        drafts: dict[ItemName, _Draft] = {}
        searches: list[SearchOp] = []
        for op in every:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                draft = self._draft(op)
                drafts.pop(draft.name, None)
                drafts[draft.name] = draft
            elif isinstance(op, SearchOp):
                _check_range(op)
                searches.append(op)
            elif isinstance(op, ListNamespacesOp):
                _check_range(op)
            elif not isinstance(op, GetOp):  # pyright: ignore[reportUnnecessaryIsInstance]  foreign code
                msg = f"unknown operation {type(op).__name__}"
                raise TypeError(msg)
        filters = tuple([fits(op.filter) if op.filter else None for op in searches])
        return _Plan(every, tuple(drafts.values()), tuple([op.query for op in searches if op.query]), filters)

    def _draft(self, op: PutOp) -> _Draft:
        name = _name(op.namespace, op.key)
        if op.value is None:
            return _Draft(name, None)
        value = _json(op.value)
        lifetime = _lifetime(op.ttl)
        if op.index is False:
            return _Draft(name, value, lifetime=lifetime)
        paths = self._paths if op.index is None else [*map(_path, op.index)]
        if paths is None:
            text = "\n".join([op.key, *_texts(op.value)])
            return _Draft(name, value, memory_terms("", key=op.key, value=op.value), (text,), lifetime)
        texts = tuple([text for path in paths for text in get_text_at_path(op.value, path)])
        terms = memory_terms("\n".join(texts)) if self.embeddings is None else None
        return _Draft(name, value, terms, texts, lifetime)

    def _checked(self, rows: Sequence[Sequence[float]], plan: _Plan) -> _Vectors:
        """Return what the user's own embedding function has answered, at length 1."""
        model = "langgraph index"
        outcome = read_rows(model, rows, count=len(plan.texts) + len(plan.queries), dim=self._dims)
        if isinstance(outcome, Success):
            return _Vectors(model, tuple(usable_rows(outcome.unwrap())))
        raise ValueError(str(outcome.failure()))


_CLOSED: Final = "the runtime of this store is closed"


def _is_of_the_users_function(failure: Exception) -> bool:
    return not isinstance(failure.__cause__, EffectFailed | EffectInterrupted)


@Effect.gen
async def _answered(do: Do[RepositoryError, Needs], plan: _Plan, given: _Vectors | None) -> list[Result]:
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    vectors = await do(_embedded([*plan.texts, *plan.queries])) if given is None else given
    rows = iter(vectors.rows)
    puts = tuple([_put(draft, vectors.model, [next(rows) for _ in draft.texts]) for draft in plan.drafts])
    filters = iter(plan.filters)
    names = tuple([_name(op.namespace, op.key) for op in plan.ops if isinstance(op, GetOp)])
    found = iter(await do(items.read(names, now=now)) if names else ())
    results: list[Result] = []
    refreshed: list[ItemName] = []
    for op in plan.ops:
        if isinstance(op, GetOp):
            item = next(found)
            results.append(None if item is None else Item(**_fields(item)))
            if op.refresh_ttl and item is not None and item.has_lifetime:
                refreshed.append(item.name)
        elif isinstance(op, SearchOp):
            search = _search(op, next(filters), vectors, rows, with_words=given is None)
            hits = await do(items.search(search, now=now)) if op.limit else ()
            results.append([SearchItem(**_fields(item), score=item.score) for item in hits])
            if op.refresh_ttl:
                refreshed += [item.name for item in hits if item.has_lifetime]
        elif isinstance(op, ListNamespacesOp):
            results.append(_listed(op, await do(items.namespaces(_literal_prefix(op), now=now))))
        else:
            results.append(None)
    if refreshed:
        await do(items.refresh(tuple(refreshed), now=now))
    if puts:
        await do(items.write(puts, now=now))
    return results


@Effect.gen
async def _swept(do: Do[RepositoryError, Needs]) -> int:
    return await do(do.service(ItemRepositoryTag).sweep(now=do.service(ClockTag).now()))


@Effect.gen
async def _embedded(do: Do[Any, Needs], texts: Sequence[str]) -> _Vectors:
    """Embed *texts* with the store's embedder; where that fails, items are found by their words."""
    embedder = do.service(EmbedderTag)
    none: tuple[Vector | None, ...] = (None,) * len(texts)
    if not texts:
        return _Vectors("", none)
    rows = await do(embedder.embed(texts).map(usable_rows).lash(lambda _: Effect.succeed(none)))
    return _Vectors(embedder.model, tuple(rows))


def _put(draft: _Draft, model: str, rows: Sequence[Vector | None]) -> ItemPut:
    vectors = tuple([row for row in rows if row is not None])
    return ItemPut(draft.name, draft.value, draft.terms, model, vectors, draft.lifetime)


def _search(
    op: SearchOp,
    condition: Fits | None,
    vectors: _Vectors,
    rows: Iterator[Vector | None],
    *,
    with_words: bool,
) -> ItemSearch:
    prefix = _labels(op.namespace_prefix)
    if not op.query:
        return ItemSearch(prefix, op.limit, op.offset, condition)
    return ItemSearch(
        prefix,
        op.limit,
        op.offset,
        condition,
        terms=query_terms(op.query) if with_words else (),
        model=vectors.model,
        vector=next(rows),
    )


def _fields(item: StoredItem) -> dict[str, Any]:
    return {
        "namespace": item.name.namespace,
        "key": item.name.key,
        "value": json.loads(item.value),
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def _unwrapped(outcome: Outcome[A, RepositoryError]) -> A:
    if isinstance(outcome, Success):
        return outcome.unwrap()
    error = outcome.failure()
    raise RuntimeError(str(error)) from EffectFailed(error)


# --- Names and values ---


def _name(namespace: Sequence[str], key: str) -> ItemName:
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]  from outside
        msg = f"a key is a string, not {type(key).__name__}"
        raise TypeError(msg)
    return ItemName(_labels(namespace), _storable(key, "key"))


def _labels(namespace: Sequence[str]) -> Labels:
    return tuple([_storable(label, "namespace label") for label in namespace])


def _storable(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = f"a {what} has half a character (a lone surrogate)"
        raise ValueError(msg) from error
    if "\0" in text:
        msg = f"a {what} has a NUL"
        raise ValueError(msg)
    return text


def _json(value: Mapping[str, Any]) -> str:
    """Write *value*; what is no JSON is a ``TypeError``."""
    text = json.dumps(value if isinstance(value, dict) else dict(value), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character comes back as it was, from its escape
        return json.dumps(value)
    return text


def _texts(value: object) -> Iterator[str]:
    """Yield every text and number in *value*, without the names of fields, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[str, object]", value).values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[object]", value):
            yield from _texts(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _lifetime(minutes: float | None) -> timedelta | None:
    if minutes is None:
        return None
    if not minutes > 0:  # NaN as well
        msg = f"ttl is a number of minutes above 0, not {minutes!r}"
        raise ValueError(msg)
    return timedelta(minutes=min(minutes, LONGEST_MINUTES))


def _paths(index: IndexConfig) -> list[Any]:
    """Return the paths that are embedded by default; ``text_fields`` is what LangGraph's SqliteStore calls them."""
    named = index.get("fields") or cast("dict[str, Any]", index).get("text_fields") or ["$"]
    return [*map(_path, [named] if isinstance(named, str) else named)]


def _path(path: str) -> Any:
    return path if path == "$" else tokenize_path(path)  # which knows no whole value


# --- Namespaces ---


def _check_range(op: SearchOp | ListNamespacesOp) -> None:
    if op.limit < 0 or op.offset < 0:
        msg = f"limit and offset are 0 or more, not {op.limit} and {op.offset}"
        raise ValueError(msg)


def _literal_prefix(op: ListNamespacesOp) -> Labels:
    """Return labels with which every namespace that is asked for begins."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix" and "*" not in condition.path:
            return _labels(condition.path)
    return ()


def _listed(op: ListNamespacesOp, namespaces: Sequence[Labels]) -> list[Labels]:
    conditions = op.match_conditions or ()
    matching = [each for each in namespaces if all(_matches(each, condition) for condition in conditions)]
    cut = sorted({each[: op.max_depth] for each in matching})
    return cut[op.offset : op.offset + op.limit]


def _matches(namespace: Labels, condition: MatchCondition) -> bool:
    if condition.match_type not in {"prefix", "suffix"}:
        msg = f"a namespace is matched by prefix or suffix, not by {condition.match_type!r}"
        raise ValueError(msg)
    length = len(condition.path)
    if length > len(namespace):
        return False
    part = namespace[:length] if condition.match_type == "prefix" else namespace[len(namespace) - length :]
    return all(wanted in ("*", label) for label, wanted in zip(part, condition.path, strict=True))
