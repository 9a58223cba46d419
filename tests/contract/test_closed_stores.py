"""A store that is closed, and one that belongs to another event loop, refuse every call alike, whatever keeps them."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from anyio.from_thread import start_blocking_portal

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.message_repository import (
    ConversationListing,
    Fork,
    HistoryWork,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
    Replacement,
    Undo,
)
from chatmemory.conversation.messages import ChatMessage
from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import RepositoryError
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepository, ItemRepositoryTag, ItemSearch
from chatmemory.laws.kit.samples import START, batch, said, summary_of
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.longterm.repository_values import Expiry, Forgetting, Mark, MemoryListing, MemorySearch, Use
from chatmemory_layers import stacks
from tests.contract.conftest import NewStack

MEI = Namespace("梅")
SPACE = EmbeddingSpace("law", 2)
NAME = ItemName(("用户",), "k")
MESSAGE = ChatMessage("m", 1, "user", "你好", START)


def of_messages(repository: MessageRepository) -> Iterator[tuple[str, Effect[Any, Any]]]:
    summary = summary_of("c", [MESSAGE], message_id="s", planned_at_version=1)
    claim = repository.claim_work(now=START, lease_id="l", lease_until=START)
    yield "append messages", repository.append(batch("c", said("m")))
    yield "read messages", repository.page(PageQuery("c", "model"))
    yield "clear messages", repository.clear("c", now=START)
    yield "remove the newest message", repository.remove_newest("c", now=START, threshold=None)
    yield "replace the newest messages", repository.replace(Replacement(batch("c", said("m")), 1))
    yield "undo a change of a conversation", repository.undo(Undo("c", START))
    yield "read conversation", repository.conversation("c")
    yield "read the owner of a conversation", repository.owner("c")
    yield "fork a conversation", repository.fork(Fork("c", "d", None, START))
    yield "list conversations", repository.conversations(ConversationListing(1))
    yield "summarize", repository.summarize(summary)
    yield "read summarization", repository.summarization("c", "s")
    yield "read summarizations", repository.summarizations_of("c", "m")
    yield "claim history work", claim
    yield "settle history work", repository.settle_work(HistoryWork("c", 1, "l"), threshold=None)


def of_memories(repository: MemoryRepository) -> Iterator[tuple[str, Effect[Any, Any]]]:
    draft = remembered("m", namespace=MEI)
    yield "store memories", repository.store((draft,))
    yield "read memory", repository.get(MEI, "m")
    yield "read value", repository.value(MEI, "k")
    yield "retire value", repository.retire(MEI, "k", now=START)
    yield "restore memory", repository.restore(MEI, "m", now=START)
    yield "read the history of a memory", repository.history(MEI, "m")
    yield "list memories", repository.list(MemoryListing(MEI, 1))
    yield "count memories", repository.count(MemoryListing(MEI, 1))
    yield "read whole memories", repository.whole(limit=1)
    yield "walk through memories", repository.reach(MEI, 1)
    yield "search memories", repository.search(MemorySearch(MEI, "茶", ("茶",)))
    yield "rewrite memory", repository.rewrite(draft, expected_version=1)
    yield "mark memory", repository.mark(Mark(MEI, "m", pinned=True))
    yield (
        "record use",
        repository.record_use(Use(namespace=MEI, memory_ids=("m",), use_id="u", session_id=None, now=START)),
    )
    yield "forget memories", repository.forget(Forgetting(MEI))
    yield "expire memories", repository.expire(Expiry(MEI))
    yield "list memories without vector", repository.unembedded(MEI, SPACE, limit=1)
    yield "attach vectors", repository.attach(MEI, SPACE, ())


def of_items(repository: ItemRepository) -> Iterator[tuple[str, Effect[Any, Any]]]:
    yield "store items", repository.write((ItemPut(NAME, "1"),), now=START)
    yield "change items", repository.change(lambda: iter(()), now=START)  # never begun
    yield "read items", repository.read((NAME,), now=START)
    yield "read items whole", repository.whole((NAME,), now=START)
    yield "undo a change of an item", repository.undo(NAME, now=START)
    yield "forget items", repository.forget((NAME,))
    yield "search items", repository.search(ItemSearch((), 1), now=START)
    yield "list namespaces", repository.namespaces((), now=START)
    yield "refresh items", repository.refresh((NAME,), now=START)
    yield "sweep items", repository.sweep(now=START)


REPOSITORIES: list[tuple[Any, type, Callable[[Any], Iterator[tuple[str, Effect[Any, Any]]]]]] = [
    (MessageRepositoryTag, MessageRepository, of_messages),
    (MemoryRepositoryTag, MemoryRepository, of_memories),
    (ItemRepositoryTag, ItemRepository, of_items),
]


async def test_every_call_of_a_repository_whose_runtime_has_ended_fails(new_stack: NewStack) -> None:
    async with ManagedRuntime(new_stack()) as runtime:
        repositories = [await runtime.service(tag) for tag, _, _ in REPOSITORIES]
    for repository, (_, contract, calls_of) in zip(repositories, REPOSITORIES, strict=True):
        calls = dict(calls_of(repository))
        assert len(calls) == len([name for name in vars(contract) if not name.startswith("_")])
        for operation, call in calls.items():
            assert await call == Failure(RepositoryError(operation, "closed"))


async def test_every_call_from_another_event_loop_or_none_fails(new_stack: NewStack) -> None:
    with (
        start_blocking_portal() as elsewhere,
        elsewhere.wrap_async_context_manager(ManagedRuntime(new_stack())) as runtime,
    ):
        for tag, _, calls_of in REPOSITORIES:
            for operation, call in calls_of(elsewhere.call(runtime.service, tag)):
                refusal = Failure(RepositoryError(operation, "wrong_loop"))
                assert await call == refusal
                assert await asyncio.to_thread(call.run_sync) == refusal  # no loop of asyncio, as in trio


def test_dictionaries_that_no_event_loop_has_opened_serve_any_caller() -> None:
    store: Layer[MessageRepositoryTag, RepositoryError] = stacks.testing()
    with ManagedRuntime(store) as runtime:
        page = MessageRepositoryTag.use(lambda messages: messages.page(PageQuery("c", "model")))
        assert runtime.run_sync(page) == Success(None)
        with start_blocking_portal() as elsewhere:
            assert elsewhere.call(runtime.run, page) == Success(None)
