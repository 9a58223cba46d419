"""``ChatMemorySession``: a session of the OpenAI Agents SDK in the conversations of chatmemory.

    session = ChatMemorySession("ann", ThreadRuntime(stacks.embedded("agent.db")))
    await Runner.run(agent, "Hello", session=session)

An item of the SDK is one message: who speaks and what can be read stand in its columns, for search, summaries and the
page; the item itself stands in its metadata and comes back equal.  What the history strategy has summarized is handed
out as one item in the place of the others.  Messages that came another way, by the API for example, are items too.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, Final, TypeAlias, TypeVar, cast

from chatmemory.context.recalled_block import SUMMARY_NOTICE, message_line, recalled_block
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Outcome, Runner, Success
from chatmemory.errors import AddError, ConversationNotFoundError, DataValidationError, ReadError
from chatmemory.extra import needs_extra
from chatmemory.input.choices import Role
from chatmemory.input.json_value import AS_GIVEN
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, MAX_LIMIT, clean_text
from chatmemory.integrations.raising import Raising, to_its_end
from chatmemory.text.fence import fresh_fence

with needs_extra("openai-agents"):
    from agents import RunContextWrapper, TResponseInputItem
    from agents.exceptions import AgentsException, UserError
    from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

A = TypeVar("A")

SessionError: TypeAlias = AddError | ReadError

RAISING: Final = Raising(refused=UserError, failed=AgentsException, closed=RuntimeError)

ITEM: Final = "openaiAgentsItem"
"""Under which name of ``AS_GIVEN`` a message's item stands."""

ITEM_TEXT: Final = "openaiAgentsItemText"
"""The same as JSON text, in pieces, when the store has no other way to give it back exactly: with a NUL in it."""

ROLES: Final[dict[object, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
SPOKEN_AS: Final[dict[Role, str]] = {"user": "user", "assistant": "assistant", "system": "system"}


class ChatMemorySession:
    """The session *session_id*: the conversation of that id.

    *runtime* gives ``ChatMemoryService``: a ``ThreadRuntime`` serves sessions of any event loop and thread and opens at
    the first call; a ``ManagedRuntime`` serves those of its own event loop, faster.  It belongs to whoever made it, and
    many sessions may share it.  *session_settings* are those of the SDK, as an object or a dict.

    What chatmemory refuses raises ``UserError``, what fails beneath it ``AgentsException``, each with chatmemory's
    own words; ``__cause__.error`` is the failure as a value.
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
        """Open nothing yet."""
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._runtime = runtime
        self._is_closed = False

    async def get_items(
        self,
        limit: int | None = None,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  asked for by the SDK, or no method gets it
    ) -> list[TResponseInputItem]:
        """Return the newest *limit* items, oldest first; all when it is negative, or None and not set either."""
        self._check_open()
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None:
            most = None if most < 0 else min(most, MAX_LIMIT)
        outcome = await self._run(lambda memory: memory.get_messages(self.session_id, limit=most))
        return _items_of(_unless_unknown(outcome) or ())

    async def add_items(
        self,
        items: list[TResponseInputItem],
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  likewise
    ) -> None:
        """Store *items* at the end, all or none.

        Raises:
            TypeError: one of them is no JSON.
        """
        self._check_open()
        if items:
            await to_its_end(self._add(items))

    async def pop_item(
        self,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  likewise
    ) -> TResponseInputItem | None:
        """Remove the newest item and return it, None when there is none.

        Where a summary is the newest, what it stands for comes back, and the newest of that is removed.
        """
        self._check_open()
        outcome = await to_its_end(self._run(lambda memory: memory.remove_newest(self.session_id)))
        removed = _unless_unknown(outcome)
        return None if removed is None else _item_of(removed)

    async def clear_session(
        self,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002  likewise
    ) -> None:
        """Remove all items, and the summaries of them."""
        self._check_open()
        _unless_unknown(await to_its_end(self._run(lambda memory: memory.clear_messages(self.session_id))))

    async def close(self) -> None:
        """Refuse further calls.  The runtime stays open for the sessions that share it."""
        self._is_closed = True

    async def _add(self, items: Sequence[TResponseInputItem]) -> None:
        outcome = await self._store([_message_of(item, {ITEM: item}) for item in items])
        if _is_refused(outcome):  # whole, so that nothing is stored yet
            outcome = await self._store([_message_of(item, _in_pieces(item)) for item in items])
        RAISING.value(outcome)

    def _store(self, messages: Sequence[NewMessage]) -> Awaitable[Outcome[object, SessionError]]:
        return self._run(lambda memory: memory.add_messages(self.session_id, messages))

    async def _run(self, use: Callable[[ChatMemory], Effect[A, SessionError]]) -> Outcome[A, SessionError]:
        return await RAISING.outcome(self._runtime, ChatMemoryService.use(use))

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(f"{type(self).__name__} is closed")


def _is_refused(outcome: Outcome[object, SessionError]) -> bool:
    return not isinstance(outcome, Success) and isinstance(outcome.failure(), DataValidationError)


def _unless_unknown(outcome: Outcome[A, SessionError]) -> A | None:
    """Return the value, None where the conversation has no message."""
    if not isinstance(outcome, Success) and isinstance(outcome.failure(), ConversationNotFoundError):
        return None
    return RAISING.value(outcome)


def _message_of(item: object, as_given: dict[str, Any]) -> NewMessage:
    fields: Mapping[str, object] = cast("Mapping[str, object]", item) if isinstance(item, Mapping) else {}
    # A call, its result and the thinking before them are the tool's: no summary parts what stands under that role.
    role: Role = ROLES.get(fields.get("role"), "tool")
    content = clean_text(_readable(fields))[:MAX_CONTENT_CHARACTERS]
    return NewMessage(role, content, metadata={AS_GIVEN: as_given})


def _readable(fields: Mapping[str, object]) -> str:
    """Return what a person, a search or a summary can read in an item; its kind when there is no text."""
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


def _in_pieces(item: object) -> dict[str, Any]:
    text = json.dumps(item)  # ASCII: whatever cannot be stored stands there as an escape
    size = MAX_CONTENT_CHARACTERS
    return {ITEM_TEXT: [text[start : start + size] for start in range(0, len(text), size)]}


def _items_of(messages: Sequence[ChatMessage]) -> list[TResponseInputItem]:
    """Return the items; an answer right behind a summary goes without its id.

    The API asks for the thinking that belonged to an answer which has an id, and that may be summarized.
    """
    items = [_item_of(message) for message in messages]
    for index, (before, message) in enumerate(pairwise(messages), start=1):
        if before.role == "summary" and message.role == "assistant":
            fields = cast("Mapping[str, Any]", items[index])
            free = {name: value for name, value in fields.items() if name != "id"}
            items[index] = cast("TResponseInputItem", free)
    return items


def _item_of(message: ChatMessage) -> TResponseInputItem:
    """Return the item that the message keeps, or one that says what it says."""
    if message.role == "summary":
        line = message_line(message)
        fence = fresh_fence([line], Random(message.id))  # noqa: S311  the same each time, for caches of prompts
        return _said("user", recalled_block([line], fence=fence, notice=SUMMARY_NOTICE))
    try:
        given = cast("Mapping[str, Any]", (message.metadata or {})[AS_GIVEN])
        kept = json.loads("".join(given[ITEM_TEXT])) if ITEM_TEXT in given else given[ITEM]
    except (KeyError, TypeError, ValueError):  # it came another way
        return _said(SPOKEN_AS.get(message.role, "assistant"), message.content)
    return cast("TResponseInputItem", kept)


def _said(role: str, content: str) -> TResponseInputItem:
    return cast("TResponseInputItem", {"role": role, "content": content})
