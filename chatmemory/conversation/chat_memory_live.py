"""``ChatMemoryService``: the service that agents call, over any repository and any history strategy.

It checks the input, adds ids and times, and turns errors of the repository into errors of the service.  Transactions
belong to the repository, summaries to the strategy.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import cast, final

from attrs import frozen

from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.message_repository import (
    Append,
    ConversationListing,
    Fork,
    MessageDraft,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
    Replacement,
    Undo,
)
from chatmemory.conversation.message_rules import is_long_batch, message_problems
from chatmemory.conversation.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    ConversationOrder,
    ConversationPage,
    Forked,
    MessagePage,
    SummarizationMetadata,
    Undone,
    View,
)
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.strategies.contract import HistoryStrategy, HistoryStrategyTag
from chatmemory.conversation.strategies.history_strategy import KeepEverything
from chatmemory.conversation.strategies.history_work import IDLE, HistoryKeeper
from chatmemory.conversation.token_counter import TokenCounter, TokenCounterTag
from chatmemory.effect import Do, Effect, Failure, Layer, Outcome, Success
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.effect.services.ids import Ids, IdsTag
from chatmemory.errors import (
    AddError,
    ConversationNotFoundError,
    ConversationUndoError,
    DataValidationError,
    ForkError,
    GenericMemoryError,
    Problem,
    ReadError,
    RemoveError,
    memory_error,
)
from chatmemory.input.rules import (
    MAX_ID_CHARACTERS,
    choice_problems,
    cursor_of,
    id_problems,
    instant_problems,
    limit_problems,
    read_cursor,
    refuse,
    text_problems,
)
from chatmemory.settings.memory_settings import StrategySettings, StrategySettingsTag
from chatmemory.text.long_work import in_worker_thread


@final
@frozen
class ChatMemoryLive(ChatMemory):
    """Implements ``ChatMemory``, which describes its methods."""

    repository: MessageRepository
    history: HistoryKeeper
    tokens: TokenCounter
    clock: Clock
    ids: Ids

    # Plain coroutines add and read messages: do-notation and alt would double the overhead of the service.

    @Effect.coroutine
    async def add_messages(
        self, conversation_id: str, messages: Sequence[NewMessage], *, expected_version: int | None = None
    ) -> Outcome[AddReport, AddError]:
        is_long = is_long_batch(messages)
        if is_long:
            found = await in_worker_thread(partial(message_problems, messages)).or_raise()
        else:
            found = message_problems(messages)
        problems = id_problems("$.conversation_id", conversation_id) + found
        if expected_version is not None:
            problems += limit_problems("$.expected_version", expected_version)
        if problems:
            return Failure(DataValidationError(tuple(problems)))
        if not messages:
            return await self._add_nothing(conversation_id)
        now = self.clock.now()
        if is_long:
            drafts = await in_worker_thread(partial(self._drafts, messages, now)).or_raise()
        else:
            drafts = self._drafts(messages, now)
        batch = Append(conversation_id, drafts, now, self.history.strategy.threshold, expected_version)
        outcome = await self.repository.append(batch)
        if type(outcome) is not Success:
            return Failure(memory_error(outcome.failure()))
        appended = outcome.unwrap()
        history = await self.history.after_append(appended) if appended.work_is_due else IDLE
        return Success(
            AddReport(appended.stored, appended.duplicates, appended.conversation.version, history)
        )

    @Effect.gen
    async def _add_nothing(self, do: Do[GenericMemoryError], conversation_id: str) -> AddReport:
        found = await do(self.repository.conversation(conversation_id).alt(GenericMemoryError))
        return AddReport((), (), 0 if found is None else found.version, IDLE)

    @Effect.coroutine
    async def get_messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: datetime | None = None,
        view: View = "model",
        as_of: int | datetime | None = None,
    ) -> Outcome[Sequence[ChatMessage], ReadError]:
        page = await self._page(PageQuery(conversation_id, view, limit, before, as_of=as_of))
        return page if isinstance(page, Failure) else Success(page.messages)

    @Effect.coroutine
    async def get_page(
        self,
        conversation_id: str,
        *,
        limit: int = 100,
        older_than: int | None = None,
        newer_than: int | None = None,
        view: View = "model",
        as_of: int | datetime | None = None,
    ) -> Outcome[MessagePage, ReadError]:
        page = await self._page(PageQuery(conversation_id, view, limit, None, older_than, newer_than, as_of))
        return page if isinstance(page, Failure) else Success(page)

    async def pages(
        self, conversation_id: str, *, size: int = 200, view: View = "full"
    ) -> AsyncIterator[Outcome[MessagePage, ReadError]]:
        problems = _query_problems(PageQuery(conversation_id, view))
        problems += limit_problems("$.size", size, least=1)
        if problems:
            yield Failure(DataValidationError(tuple(problems)))
            return
        cursor = 0
        while True:
            outcome = await self.get_page(conversation_id, limit=size, newer_than=cursor, view=view)
            if isinstance(outcome, Success) and cursor > 0 and not outcome.unwrap().messages:
                return
            yield outcome
            if isinstance(outcome, Failure) or len(outcome.unwrap().messages) < size:
                return
            cursor = outcome.unwrap().newer

    @Effect.coroutine
    async def fork(
        self, conversation_id: str, new_id: str, *, at: str | int | None = None
    ) -> Outcome[Forked, ForkError]:
        problems = id_problems("$.conversation_id", conversation_id) + id_problems("$.new_id", new_id)
        problems += (
            limit_problems("$.at", at) if isinstance(at, int) else id_problems("$.at", at, or_none=True)
        )
        if problems:
            return Failure(DataValidationError(tuple(problems)))
        fork = Fork(conversation_id, new_id, at, self.clock.now(), self.history.strategy.threshold)
        outcome = await self.repository.fork(fork)
        return outcome if isinstance(outcome, Success) else Failure(memory_error(outcome.failure()))

    @Effect.gen
    async def remove_newest(self, do: Do[RemoveError], conversation_id: str) -> ChatMessage:
        refuse(do, id_problems("$.conversation_id", conversation_id))
        removing = self.repository.remove_newest(
            conversation_id, now=self.clock.now(), threshold=self.history.strategy.threshold
        )
        removed = await do(removing.alt(memory_error))
        return removed or do.fail(ConversationNotFoundError(conversation_id))

    @Effect.coroutine
    async def replace_newest(
        self,
        conversation_id: str,
        messages: Sequence[NewMessage],
        *,
        count: int | None = None,
        expected_version: int | None = None,
    ) -> Outcome[AddReport, AddError]:
        problems = id_problems("$.conversation_id", conversation_id) + message_problems(messages)
        for path, number in (("$.count", count), ("$.expected_version", expected_version)):
            problems += [] if number is None else limit_problems(path, number)
        if problems:
            return Failure(DataValidationError(tuple(problems)))
        now, threshold = self.clock.now(), self.history.strategy.threshold
        batch = Append(conversation_id, self._drafts(messages, now), now, threshold, expected_version)
        outcome = await self.repository.replace(Replacement(batch, count))
        if not isinstance(outcome, Success):
            return Failure(memory_error(outcome.failure()))
        stored = outcome.unwrap()
        history = await self.history.after_append(stored) if stored.work_is_due else IDLE
        return Success(AddReport(stored.stored, stored.duplicates, stored.conversation.version, history))

    @Effect.gen
    async def clear_messages(
        self, do: Do[RemoveError], conversation_id: str, *, with_branches: bool = False
    ) -> ClearReport:
        refuse(do, id_problems("$.conversation_id", conversation_id))
        clearing = self.repository.clear(conversation_id, now=self.clock.now(), with_branches=with_branches)
        cleared = await do(clearing.alt(memory_error))
        return cleared or do.fail(ConversationNotFoundError(conversation_id))

    @Effect.coroutine
    async def undo(
        self, conversation_id: str, *, expected_version: int | None = None
    ) -> Outcome[Undone, ConversationUndoError]:
        problems = id_problems("$.conversation_id", conversation_id)
        if expected_version is not None:
            problems += limit_problems("$.expected_version", expected_version)
        if problems:
            return Failure(DataValidationError(tuple(problems)))
        undo = Undo(conversation_id, self.clock.now(), self.history.strategy.threshold, expected_version)
        outcome = await self.repository.undo(undo)
        return outcome if isinstance(outcome, Success) else Failure(memory_error(outcome.failure()))

    @Effect.gen
    async def get_conversation(self, do: Do[ReadError], conversation_id: str) -> Conversation:
        found = await do(self._find(conversation_id))
        return found or do.fail(ConversationNotFoundError(conversation_id))

    @Effect.gen
    async def list_conversations(
        self,
        do: Do[ReadError],
        *,
        limit: int = 100,
        after: str | None = None,
        order: ConversationOrder = "id",
        prefix: str = "",
    ) -> ConversationPage:
        place, problems = read_cursor(after)
        refuse(
            do,
            limit_problems("$.limit", limit),
            problems,
            choice_problems("$.order", order, ConversationOrder),
            text_problems("$.prefix", prefix, max_characters=MAX_ID_CHARACTERS),
        )
        if not limit:
            return ConversationPage((), None)
        # One more than requested shows whether there is another page.
        listing = ConversationListing(limit + 1, place, order, prefix)
        found = await do(self.repository.conversations(listing).alt(GenericMemoryError))
        page = found[:limit]
        last = (page[-1].updated_at, page[-1].conversation_id) if len(found) > limit else None
        return ConversationPage(page, None if last is None else cursor_of(last))

    def exists(self, conversation_id: str) -> Effect[bool, ReadError]:
        return self._find(conversation_id).map(lambda found: found is not None)

    @Effect.gen
    async def count(self, do: Do[ReadError], conversation_id: str, *, view: View = "model") -> int:
        refuse(do, choice_problems("$.view", view, View))
        found = await do(self._find(conversation_id))
        if found is None:
            return 0
        return found.view_count if view == "model" else found.message_count

    @Effect.gen
    async def get_summarization(
        self, do: Do[ReadError], conversation_id: str, summary_message_id: str
    ) -> SummarizationMetadata | None:
        refuse(
            do,
            id_problems("$.conversation_id", conversation_id),
            id_problems("$.summary_message_id", summary_message_id),
        )
        read = self.repository.summarization(conversation_id, summary_message_id)
        return await do(read.alt(GenericMemoryError))

    @Effect.gen
    async def get_summarizations_of(
        self, do: Do[ReadError], conversation_id: str, message_id: str
    ) -> Sequence[SummarizationMetadata]:
        refuse(do, id_problems("$.conversation_id", conversation_id), id_problems("$.message_id", message_id))
        return await do(
            self.repository.summarizations_of(conversation_id, message_id).alt(GenericMemoryError)
        )

    def _drafts(self, messages: Sequence[NewMessage], now: datetime) -> tuple[MessageDraft, ...]:
        new_id, count = self.ids.message_id, self.tokens.count
        return tuple(
            [
                MessageDraft(
                    message.id or new_id(),
                    message.role,
                    message.content,
                    now if message.timestamp is None else message.timestamp.astimezone(UTC),
                    message.metadata,
                    count(message),
                )
                for message in messages
            ]
        )

    async def _page(self, query: PageQuery) -> MessagePage | Failure[ReadError]:
        problems = _query_problems(query)
        if problems:
            return Failure(DataValidationError(tuple(problems)))
        outcome = await self.repository.page(query)
        if type(outcome) is not Success:
            return Failure(GenericMemoryError(outcome.failure()))
        page = outcome.unwrap()
        if page is None:
            return Failure(ConversationNotFoundError(query.conversation_id))
        if isinstance(query.as_of, int) and page.version != query.as_of:
            yet_to_come = Problem(
                "$.as_of", f"the conversation is at version {page.version}, and has no later one"
            )
            return Failure(DataValidationError((yet_to_come,)))
        return page

    @Effect.gen
    async def _find(self, do: Do[ReadError], conversation_id: str) -> Conversation | None:
        refuse(do, id_problems("$.conversation_id", conversation_id))
        return await do(self.repository.conversation(conversation_id).alt(GenericMemoryError))


def _query_problems(query: PageQuery) -> list[Problem]:
    problems = id_problems("$.conversation_id", query.conversation_id)
    problems += choice_problems("$.view", query.view, View)
    if query.limit is not None:
        problems += limit_problems("$.limit", query.limit)
    problems += instant_problems("$.before", query.before)
    if query.older_than is not None:
        problems += limit_problems("$.older_than", query.older_than)
    if query.newer_than is not None:
        problems += limit_problems("$.newer_than", query.newer_than)
    if query.older_than is not None and query.newer_than is not None:
        problems.append(Problem("$.newer_than", "give older_than or newer_than, not both"))
    as_of = cast("object", query.as_of)  # callers without a type checker give any type
    if isinstance(as_of, int):
        problems += limit_problems("$.as_of", as_of)
    elif as_of is None or isinstance(as_of, datetime):
        problems += instant_problems("$.as_of", as_of)
    else:
        problems.append(Problem("$.as_of", f"expected a version or a datetime, not {type(as_of).__name__}"))
    return problems


@asynccontextmanager
async def open_chat_memory(
    repository: MessageRepository,
    strategy: HistoryStrategy,
    tokens: TokenCounter,
    settings: StrategySettings,
    clock: Clock,
    ids: Ids,
) -> AsyncGenerator[ChatMemory]:
    """Open the service, do history work in the background, and finish the work that is due before closing."""
    keeper = HistoryKeeper(repository, strategy, clock, ids, settings)
    memory = ChatMemoryLive(repository, keeper, tokens, clock, ids)
    if isinstance(strategy, KeepEverything):  # work of another strategy waits until that one is used again
        yield memory
        return
    async with keeper.in_background():
        yield memory


chat_memory = Layer.scoped(
    ChatMemoryService,
    open_chat_memory,
    MessageRepositoryTag,
    HistoryStrategyTag,
    TokenCounterTag,
    StrategySettingsTag,
    ClockTag,
    IdsTag,
)
"""The service over the repository, the strategy and the token counter that are provided."""
