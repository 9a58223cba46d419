"""``answered``: runs the steps of a batch on the store, and returns their results in the order of the operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

from attrs import evolve, frozen
from langgraph.store.base import Item, Result, SearchItem

from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.embedding.embedder import EmbedderTag, Vector
from chatmemory.embedding.unit_vectors import each_embedded
from chatmemory.errors import RepositoryError
from chatmemory.integrations.langgraph.steps import Get, Put, Search, Step
from chatmemory.integrations.langgraph.values import listed, namespace_of, read_json
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag, ItemSearch, StoredItem
from chatmemory.text.search_terms import query_terms

Needs: TypeAlias = ItemRepositoryTag | EmbedderTag


@final
@frozen
class Batch:
    """Steps that run together.

    Attributes:
        puts: of several puts of one name, the last.
        texts: the texts to embed, each once.
        queries: the queries of the searches, each once.
    """

    steps: Sequence[Step]
    puts: Sequence[Put]
    texts: Sequence[str]
    queries: Sequence[str]

    @staticmethod
    def of(steps: Sequence[Step]) -> Batch:
        """Return the batch of *steps*."""
        puts = [step for step in steps if type(step) is Put]
        last = {put.item.name: put for put in puts}
        if len(last) < len(puts):
            puts = [put for put in puts if last[put.item.name] is put]
        texts = dict.fromkeys([text for put in puts for text in put.texts])
        queries = dict.fromkeys([step.query for step in steps if type(step) is Search and step.query])
        return Batch(steps, puts, [*texts], [*queries])


@final
@frozen
class Vectors:
    """The known vectors of the texts and queries of a batch.

    Attributes:
        has_words: whether a query also matches words.
    """

    model: str
    of_text: Mapping[str, Vector]
    of_query: Mapping[str, Vector]
    has_words: bool

    @staticmethod
    def of(batch: Batch, model: str, rows: Sequence[Vector | None], *, has_words: bool) -> Vectors:
        """Assign *rows*: one for each text, and then one for each query; None: no vector."""
        many = len(batch.texts)
        of_text = _known(zip(batch.texts, rows[:many], strict=True))
        return Vectors(model, of_text, _known(zip(batch.queries, rows[many:], strict=True)), has_words)


_NOTHING: Final = Vectors("", {}, {}, has_words=True)


def _known(rows: Iterable[tuple[str, Vector | None]]) -> Mapping[str, Vector]:
    return {text: row for text, row in rows if row is not None}


@Effect.gen
async def answered(do: Do[RepositoryError, Needs], batch: Batch, given: Vectors | None) -> list[Result]:
    """Run the reads, then the writes; *given* replaces the vectors of the store's embedder."""
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    vectors = given or _NOTHING
    if given is None and (batch.texts or batch.queries):
        vectors = await do(_embedded(batch))
    names = tuple([step.name for step in batch.steps if type(step) is Get])
    found = iter(await do(items.read(names, now=now)) if names else ())
    results: list[Result] = []
    refreshed: list[ItemName] = []
    for step in batch.steps:
        if type(step) is Get:
            item = next(found)
            results.append(None if item is None else _found(item))
            if step.refreshes and item is not None and item.has_lifetime:
                refreshed.append(item.name)
        elif type(step) is Put:
            results.append(None)
        elif type(step) is Search:
            hits = await do(items.search(_asked(step, vectors), now=now)) if step.search.limit else ()
            results.append([_hit(item) for item in hits])
            if step.refreshes:
                refreshed += [item.name for item in hits if item.has_lifetime]
        else:
            results.append(listed(step.op, await do(items.namespaces(step.prefix, now=now))))
    if refreshed:
        await do(items.refresh(tuple(refreshed), now=now))
    if batch.puts:
        await do(items.write(tuple([_put(put, vectors) for put in batch.puts]), now=now))
    return results


@Effect.gen
async def swept(do: Do[RepositoryError, Needs]) -> int:
    """Remove the items whose lifetime has ended."""
    return await do(do.service(ItemRepositoryTag).sweep(now=do.service(ClockTag).now()))


@Effect.gen
async def _embedded(do: Do[Any, Needs], batch: Batch) -> Vectors:
    """Embed with the store's embedder; items without a vector are found by their words."""
    texts = [*batch.texts, *batch.queries]
    embedder = do.service(EmbedderTag)
    none: Sequence[Vector | None] = [None] * len(texts)
    rows = await do(each_embedded(embedder, texts).lash(lambda _: Effect.succeed(none)))
    return Vectors.of(batch, embedder.model, rows, has_words=True)


def _put(put: Put, vectors: Vectors) -> ItemPut:
    if not put.texts:
        return put.item
    known = tuple([vectors.of_text[text] for text in put.texts if text in vectors.of_text])
    return evolve(put.item, model=vectors.model, vectors=known)


def _asked(step: Search, vectors: Vectors) -> ItemSearch:
    if step.query is None:
        return step.search
    terms = query_terms(step.query) if vectors.has_words else ()
    return evolve(step.search, terms=terms, model=vectors.model, vector=vectors.of_query.get(step.query))


def _found(item: StoredItem) -> Item:
    return Item(
        namespace=namespace_of(item.name.namespace),
        key=item.name.key,
        value=read_json(item.value),
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _hit(item: StoredItem) -> SearchItem:
    return SearchItem(
        namespace=namespace_of(item.name.namespace),
        key=item.name.key,
        value=read_json(item.value),
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=item.score,
    )
