"""``ChatMemorySession``: the methods that the SDK calls on a session, also for its compaction.

``message_of`` and ``item_of`` convert an item of the SDK to a message and back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar, cast

from agents import RunContextWrapper, TResponseInputItem
from agents.exceptions import AgentsException, UserError
from agents.memory.session import _CompactionSnapshot  # pyright: ignore[reportPrivateUsage]  asked for by name
from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.messages import ChatMessage, MessagePage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Outcome, Runner, Success
from chatmemory.errors import (
    AddError,
    ConversationNotFoundError,
    DataValidationError,
    ReadError,
    VersionConflictError,
)
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN
from chatmemory.input.rules import MAX_LIMIT
from chatmemory.integrations.as_given import given_value, storable_content, value_in_pieces
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory.integrations.recalled_text import summary_block

ITEM: Final = "openaiAgentsItem"
"""The name of a message's item under ``AS_GIVEN``."""

ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
SPOKEN_AS: Final[dict[Role, str]] = {"user": "user", "assistant": "assistant", "system": "system"}
A = TypeVar("A")

SessionError: TypeAlias = AddError | ReadError

RAISING: Final = Raising(refused=UserError, failed=AgentsException, closed=RuntimeError)

READS_AND_WRITES: Final = ("get_items", "add_items", "pop_item", "clear_session")

IsOver: TypeAlias = Callable[[TResponseInputItem], bool]
"""Whether an item at the beginning of the session may be removed: an encrypted one that has expired."""


class ChatMemorySession:
    """The session *session_id*: the conversation with that id.

    *runtime* provides ``ChatMemoryService``: a ``ThreadRuntime`` works with any event loop and thread and opens at
    the first call; a ``ManagedRuntime`` works with its own event loop, faster.  The session does not close it, and
    many sessions may share it.  The SDK defines *session_settings*: an object or a dict.

    Input that chatmemory refuses raises ``UserError``, any other failure ``AgentsException``, each with chatmemory's
    own message; ``__cause__.error`` is the failure as a value.
    """

    session_id: str
    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        runtime: Runner[ChatMemoryService],
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """Store the arguments; nothing is opened yet."""
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._runtime = runtime
        self._is_closed = False

    async def get_items(
        self,
        limit: int | None = None,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  the SDK passes it only when every method accepts it
    ) -> list[TResponseInputItem]:
        """Return the newest *limit* items, oldest first; all items for a negative limit, or for None without a configured limit."""
        self._check_open()
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None:
            most = None if most < 0 else min(most, MAX_LIMIT)
        outcome = await self._run(lambda memory: memory.get_messages(self.session_id, limit=most))
        return items_of(_unless_unknown(outcome) or ())

    async def add_items(
        self,
        items: list[TResponseInputItem],
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  required by the framework
    ) -> None:
        """Append *items*, all or none.

        Raises:
            TypeError: an item is not JSON.
        """
        self._check_open()
        if items:
            await to_its_end(self._add(items))

    async def pop_item(
        self,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  required by the framework
    ) -> TResponseInputItem | None:
        """Remove the newest item and return it; None when there is none.

        When the newest item is a summary, its messages come back, and the newest of them is removed.
        """
        self._check_open()
        outcome = await to_its_end(self._run(lambda memory: memory.remove_newest(self.session_id)))
        removed = _unless_unknown(outcome)
        return None if removed is None else item_of(removed)

    async def clear_session(
        self,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  required by the framework
    ) -> None:
        """Remove all items and their summaries."""
        self._check_open()
        _unless_unknown(await to_its_end(self._run(lambda memory: memory.clear_messages(self.session_id))))

    async def close(self) -> None:
        """Refuse further calls.  The runtime stays open for the sessions that share it."""
        self._is_closed = True

    # --- What ``OpenAIResponsesCompactionSession`` and ``EncryptedSession`` look for on the session that they wrap ---

    async def _get_compaction_snapshot(
        self, limit: int, *, prune_prefix: IsOver | None = None
    ) -> _CompactionSnapshot | None:
        """Return the newest *limit* items and a function that replaces some of them; None when a subclass overrides reads or writes.

        A summary of the history strategy is not compacted: the items begin after it.
        """
        self._check_open()
        if not self._is_plain():
            return None
        found = await self._page(limit + 1)
        messages = [] if found is None else [*found.messages]
        version = 0 if found is None else found.version
        begin = max(0, len(messages) - limit)
        summaries = [index for index, message in enumerate(messages) if message.role == "summary"]
        begin = max([begin, *[index + 1 for index in summaries]])
        shown = messages[begin:]

        async def replace_suffix(start: int, output: list[TResponseInputItem]) -> bool:
            replaced = shown[start:]
            if not replaced:
                return False
            kept, over = None, prune_prefix
            if over is not None and not summaries:
                kept = await self._kept(over, version, but=len(replaced))
            return await to_its_end(self._replace(output, len(replaced), version, kept))

        is_complete = begin == 0 and (found is None or found.older is None)
        return _CompactionSnapshot(items_of(messages)[begin:], is_complete, replace_suffix)

    async def _atomic_replace_items(self, items: list[TResponseInputItem]) -> bool:
        """Replace all items by *items* in one transaction; return False when a subclass overrides reads or writes."""
        self._check_open()
        return self._is_plain() and await to_its_end(self._replace(items, None, None))

    def _is_plain(self) -> bool:
        kind = type(self)
        return all(getattr(kind, name) is getattr(ChatMemorySession, name) for name in READS_AND_WRITES)

    async def _page(self, limit: int, newer_than: int | None = None) -> MessagePage | None:
        """Return a page of the session, at most as large as a page may be; None when the session does not exist."""
        size = min(limit, MAX_LIMIT)
        return _unless_unknown(
            await self._run(
                lambda memory: memory.get_page(self.session_id, limit=size, newer_than=newer_than)
            )
        )

    async def _kept(self, is_over: IsOver, version: int, *, but: int) -> Sequence[ChatMessage] | None:
        """Return the messages before the newest ones that stay when expired items are removed; None: no item has expired.

        Args:
            is_over: returns whether an item is removed; removal ends at the first item that stays.
            version: the version of the session that was read.
            but: the number of newest messages that are replaced.
        """
        first = await self._page(1, newer_than=0)
        if first is None or not first.messages or not is_over(item_of(first.messages[0])):
            return None
        page = await self._page(MAX_LIMIT)
        if page is None or page.version != version or page.older is not None:
            return None
        before = page.messages[: len(page.messages) - but]
        items = items_of(before)
        gone = next((index for index, item in enumerate(items) if not is_over(item)), len(items))
        return before[gone:]

    async def _replace(
        self,
        items: Sequence[TResponseInputItem],
        count: int | None,
        version: int | None,
        kept: Sequence[ChatMessage] | None = None,
    ) -> bool:
        """Replace the newest *count* messages by *items*; return False when the session has changed since *version*.

        With *kept*, these messages and the items replace everything.
        """
        stay = [
            NewMessage(
                message.role,
                message.content,
                id=message.id,
                timestamp=message.timestamp,
                metadata=message.metadata,
            )
            for message in kept or ()
        ]
        how_many = count if kept is None else None
        outcome = await self._stored(
            items,
            lambda memory, messages: memory.replace_newest(
                self.session_id, [*stay, *messages], count=how_many, expected_version=version
            ),
        )
        if not isinstance(outcome, Success) and isinstance(outcome.failure(), VersionConflictError):
            return False
        RAISING.value(outcome)
        return True

    async def _add(self, items: Sequence[TResponseInputItem]) -> None:
        outcome = await self._stored(
            items, lambda memory, messages: memory.add_messages(self.session_id, messages)
        )
        RAISING.value(outcome)

    async def _stored(
        self,
        items: Sequence[TResponseInputItem],
        store: Callable[[ChatMemory, Sequence[NewMessage]], Effect[object, SessionError]],
    ) -> Outcome[object, SessionError]:
        """Store *items* as they are; when the store refuses one, store them in pieces."""
        whole = [message_of(item, {ITEM: item}) for item in items]
        outcome = await self._run(lambda memory: store(memory, whole))
        if not _is_refused(outcome):
            return outcome
        pieces = [message_of(item, value_in_pieces(ITEM, item)) for item in items]  # nothing is stored yet
        return await self._run(lambda memory: store(memory, pieces))

    async def _run(self, use: Callable[[ChatMemory], Effect[A, SessionError]]) -> Outcome[A, SessionError]:
        return await RAISING.outcome(self._runtime, ChatMemoryService.use(use))

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(f"{type(self).__name__} is closed")


def _is_refused(outcome: Outcome[object, SessionError]) -> bool:
    return not isinstance(outcome, Success) and isinstance(outcome.failure(), DataValidationError)


def _unless_unknown(outcome: Outcome[A, SessionError]) -> A | None:
    """Return the value; None when the conversation is empty or does not exist."""
    if not isinstance(outcome, Success) and isinstance(outcome.failure(), ConversationNotFoundError):
        return None
    return RAISING.value(outcome)


def message_of(item: object, as_given: dict[str, Any]) -> NewMessage:
    """Return the message of an item; *as_given* is the item as the metadata holds it."""
    fields: Mapping[str, object] = cast("Mapping[str, object]", item) if isinstance(item, Mapping) else {}
    # A call, its result and the thinking before them have the role tool, so that no summary separates them.
    role: Role = ROLES.get(f"{fields.get('role')}", "tool")
    content = storable_content(_readable(fields))
    return NewMessage(role, content, metadata={AS_GIVEN: as_given})


def _readable(fields: Mapping[str, object]) -> str:
    """Return the text of an item that a person, a search or a summary can read; its kind if the text is empty."""
    match fields:
        case {"name": str(name), "arguments": str(arguments)}:
            return f"{name}({arguments})"
        case {"content": content} | {"output": content} | {"summary": content}:
            return _text_of(content)
        case _:
            return f"[{fields.get('type', 'item')}]"


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text_of, cast("list[object]", content))))
    match content:
        case {"text": str(text)} | {"refusal": str(text)} | {"transcript": str(text)}:
            return text
        case {"type": str(kind)}:
            return f"[{kind}]"
        case _:
            return ""


def items_of(messages: Sequence[ChatMessage]) -> list[TResponseInputItem]:
    """Return the items; an answer right after a summary loses its id.

    The API requires the thinking of an answer that has an id, and the thinking may be summarized.
    """
    items = [item_of(message) for message in messages]
    for index, (before, message) in enumerate(pairwise(messages), start=1):
        if before.role == "summary" and message.role == "assistant":
            fields = cast("Mapping[str, Any]", items[index])
            free = {name: value for name, value in fields.items() if name != "id"}
            items[index] = cast("TResponseInputItem", free)
    return items


def item_of(message: ChatMessage) -> TResponseInputItem:
    """Return the item in the message's metadata, or one with the message's text."""
    if message.role == "summary":
        return _said("user", summary_block(message))
    try:
        return cast("TResponseInputItem", given_value(message.metadata, ITEM))
    except (KeyError, TypeError, ValueError):  # the message has another origin
        return _said(SPOKEN_AS.get(message.role, "assistant"), message.content)


def _said(role: str, content: str) -> TResponseInputItem:
    return cast("TResponseInputItem", {"role": role, "content": content})
