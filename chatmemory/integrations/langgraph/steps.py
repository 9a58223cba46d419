"""``read_steps``: validates the operations of a batch and converts them to steps; ``answers.py`` runs the steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast, final

from attrs import frozen
from langgraph.store.base import (
    GetOp,
    IndexConfig,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from chatmemory.integrations.langgraph.values import (
    conditions,
    item_name,
    json_text,
    labels_of,
    lifetime_of,
    literal_prefix,
    texts_in,
)
from chatmemory.items.item_repository import ItemName, ItemPut, ItemSearch, Labels
from chatmemory.longterm.saving.memory_drafts import memory_terms


@final
@frozen(slots=False)  # made for every operation, see messages.py
class Get:
    """Reads an item."""

    name: ItemName
    refreshes: bool


@final
@frozen(slots=False)
class Put:
    """Stores an item, or removes it when its value is None; *texts* are the texts by whose meaning it is found."""

    item: ItemPut
    texts: tuple[str, ...] = ()


@final
@frozen(slots=False)
class Search:
    """Searches items, by *query* if there is one."""

    search: ItemSearch
    query: str | None
    refreshes: bool


@final
@frozen(slots=False)
class Listing:
    """Lists namespaces that begin with *prefix*."""

    op: ListNamespacesOp
    prefix: Labels


Step: TypeAlias = Get | Put | Search | Listing


@final
@frozen
class Indexing:
    """Which parts of a value can be found.

    Attributes:
        paths: the parts to embed, unless a put names others; None: the whole value.
        has_words: whether words are indexed as well.
    """

    paths: Sequence[Any] | None = None
    has_words: bool = True

    @staticmethod
    def by(index: IndexConfig) -> Indexing:
        """Return the indexing of the user's own *index*; ``text_fields`` is the name of the fields in LangGraph's SqliteStore."""
        named = index.get("fields") or cast("dict[str, Any]", index).get("text_fields") or ["$"]
        return Indexing([*map(_path, [named] if isinstance(named, str) else named)], has_words=False)

    def put(self, op: PutOp) -> Put:
        """Return the put for *op*.

        Raises:
            TypeError: the value is not JSON.
            ValueError: the name or the lifetime is invalid.
        """
        name = item_name(op.namespace, op.key)
        if op.value is None:
            return Put(ItemPut(name, None))
        value, lifetime = json_text(op.value), lifetime_of(op.ttl)
        if op.index is False:
            return Put(ItemPut(name, value, lifetime=lifetime))
        paths = self.paths if op.index is None else [*map(_path, op.index)]
        if paths is None:
            words = memory_terms("", key=op.key, value=op.value)
            text = "\n".join([op.key, *texts_in(op.value)])
            return Put(ItemPut(name, value, words, lifetime=lifetime), (text,))
        texts = tuple([text for path in paths for text in get_text_at_path(op.value, path)])
        terms = memory_terms("\n".join(texts)) if self.has_words else None
        return Put(ItemPut(name, value, terms, lifetime=lifetime), texts)


def _path(path: str) -> Any:
    return path if path == "$" else tokenize_path(path)  # which does not know the path of the whole value


def read_steps(ops: Iterable[Op], indexing: Indexing) -> tuple[Step, ...]:
    """Return the steps of *ops*.

    Raises:
        ValueError: an argument of an operation is invalid.
        TypeError: an operation is unknown, or stores a value that is not JSON.
    """
    return tuple([_step(op, indexing) for op in ops])


def _step(op: Op, indexing: Indexing) -> Step:
    validate_op_namespace(op)
    if isinstance(op, GetOp):
        return Get(item_name(op.namespace, op.key), op.refresh_ttl)
    if isinstance(op, PutOp):
        return indexing.put(op)
    if isinstance(op, SearchOp):
        _check_range(op)
        wanted = conditions(op.filter) if op.filter else ()
        search = ItemSearch(labels_of(op.namespace_prefix), op.limit, op.offset, wanted)
        return Search(search, op.query or None, op.refresh_ttl)
    if isinstance(op, ListNamespacesOp):  # pyright: ignore[reportUnnecessaryIsInstance]  foreign code
        _check_range(op)
        return Listing(op, literal_prefix(op))
    msg = f"unknown operation {type(op).__name__}"
    raise TypeError(msg)


def _check_range(op: SearchOp | ListNamespacesOp) -> None:
    if op.limit < 0 or op.offset < 0:
        msg = f"limit and offset are 0 or more, not {op.limit} and {op.offset}"
        raise ValueError(msg)
