"""``ChatMemoryHistoryProvider``: stores the sessions of Agent Framework as conversations of chatmemory."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Final

from agent_framework import AgentSession, HistoryProvider, Message, SessionContext, SupportsAgentRun

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Do, Effect, Runner
from chatmemory.errors import AddError, ReadError
from chatmemory.input.rules import MAX_LIMIT
from chatmemory.integrations.agent_framework.messages import (
    RAISING,
    Identity,
    drafts,
    identity_of,
    message_of,
)
from chatmemory.integrations.raising import to_its_end
from chatmemory.integrations.stored_messages import cleared_messages, stored_messages

DEFAULT_SESSION: Final = "default"
"""The conversation for calls without a session, as with the providers of the framework."""

_given: ContextVar[int | None] = ContextVar("given", default=None)
"""The number of messages in the current save that were given to the agent; the rest are its new answers."""


class ChatMemoryHistoryProvider(HistoryProvider):
    """Stores the messages of each session in the conversation with its id, after *prefix*.

    *runtime* provides ``ChatMemoryService``: a ``ThreadRuntime`` works with any event loop and thread and opens at
    the first call; a ``ManagedRuntime`` works with its own event loop, faster.  The provider does not close it.
    ``HistoryProvider`` defines the flags, and the framework's own providers define *skip_excluded*.  Two providers of one
    agent, such as one for an audit, need a different *prefix* each; otherwise each would find the messages of the other.

    The given messages are appended, all or none.  Some clients store the transcript and send all of it: then only the new
    messages after the stored ones are added.  New answers of the model are always added, whatever their text.

    Input that chatmemory refuses raises ``IntegrationInvalidRequestException``, any other failure
    ``IntegrationException``, each with chatmemory's own message; ``__cause__.error`` is the failure as a value.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "chatmemory_history"

    def __init__(
        self,
        runtime: Runner[ChatMemoryService],
        source_id: str = DEFAULT_SOURCE_ID,
        *,
        prefix: str = "",
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: set[str] | None = None,
        store_outputs: bool = True,
        skip_excluded: bool = False,
    ) -> None:
        """Store the arguments; nothing is opened yet."""
        super().__init__(
            source_id,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
        )
        self.prefix = prefix
        self.skip_excluded = skip_excluded
        self._runtime = runtime

    async def get_messages(
        self,
        session_id: str | None,
        *,
        state: dict[str, Any] | None = None,  # noqa: ARG002  required by the framework
        **kwargs: Any,  # noqa: ARG002  required by the framework
    ) -> list[Message]:
        """Return the model's view of the session, oldest message first; empty for a new session."""
        stored = await RAISING.run(self._runtime, stored_messages(self._conversation_id(session_id)))
        messages = [message_of(one) for one in stored]
        if self.skip_excluded:
            return [message for message in messages if not message.additional_properties.get("_excluded")]
        return messages

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,  # noqa: ARG002  required by the framework
        **kwargs: Any,  # noqa: ARG002  required by the framework
    ) -> None:
        """Append *messages*, all or none; messages that repeat the end of the stored ones are stored once."""
        many = _given.get()
        given, answered = list(drafts(messages[:many])), list(drafts(messages[len(messages[:many]) :]))
        if given or answered:
            saving = _saved(self._conversation_id(session_id), given, answered)
            await to_its_end(RAISING.run(self._runtime, saving))

    async def list_sessions(
        self, *, limit: int = 100, after: str | None = None
    ) -> tuple[list[str], str | None]:
        """Return the ids of sessions with the *prefix*, ordered by id, and where the next page begins.

        Args:
            limit: the largest number of sessions.
            after: the second value that the page before returned; None: the first page.

        Returns:
            the ids; and *after* of the next page, None at the end.
        """
        listing = ChatMemoryService.use(
            lambda memory: memory.list_conversations(limit=limit, after=after, prefix=self.prefix)
        )
        page = await RAISING.run(self._runtime, listing)
        ids = [one.conversation_id.removeprefix(self.prefix) for one in page.conversations]
        return ids, page.next

    async def delete_session(self, session_id: str | None) -> int:
        """Delete the messages of a session and their summaries, and return the number of messages."""
        clearing = cleared_messages(self._conversation_id(session_id))
        return await to_its_end(RAISING.run(self._runtime, clearing))

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Store messages as the flags say; an answer with the text of an earlier answer is not a repetition."""
        inputs = context.input_messages if self.store_inputs else []
        token = _given.set(len(self._get_context_messages_to_store(context)) + len(inputs))
        try:
            await super().after_run(agent=agent, session=session, context=context, state=state)
        finally:
            _given.reset(token)

    def _conversation_id(self, session_id: str | None) -> str:
        return self.prefix + (DEFAULT_SESSION if session_id is None else session_id)


@Effect.gen
async def _saved(
    do: Do[AddError | ReadError, ChatMemoryService],
    conversation_id: str,
    given: Sequence[NewMessage],
    answered: Sequence[NewMessage],
) -> None:
    """Append the messages of *given* that are not stored yet, and *answered*."""
    identities = [identity_of(message) for message in given]
    if len(given) > 1 or not all(map(_is_question, identities)):
        most = min(2 * len(given), MAX_LIMIT)  # the most that can be repeated, with a summary after each
        known = await do(stored_messages(conversation_id, limit=most, view="full"))
        stored = [identity_of(message) for message in known if message.role != "summary"]
        given = given[_repeated(stored, identities) :]
    if given or answered:
        await do(do.service(ChatMemoryService).add_messages(conversation_id, [*given, *answered]))


def _is_question(identity: Identity) -> bool:
    """Return whether the same message may occur again: a user's message without an id."""
    return identity[0] == "user"


def _repeated(stored: Sequence[Identity], given: Sequence[Identity]) -> int:
    """Return how many of *given*, from the first on, are a repeated transcript.

    The framework's own providers have the same rule.  A short history is searched as a whole at any position, the end of
    a long one at the beginning.  A single question does not prove a repetition.
    """
    many = len(stored)
    for start in range(len(given) - many + 1 if many else 0):
        if given[start : start + many] == stored:
            if start == 0 and many == 1 and _is_question(stored[0]):
                break
            return start + many
    for overlap in range(min(many, len(given)), 0, -1):
        if given[:overlap] == stored[-overlap:] and (overlap > 1 or not _is_question(stored[-1])):
            return overlap
    return 0
