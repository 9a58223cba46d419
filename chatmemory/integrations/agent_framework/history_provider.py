"""``ChatMemoryHistoryProvider``: the sessions of Agent Framework in the conversations of chatmemory."""

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
from chatmemory.integrations.stored_messages import stored_messages

DEFAULT_SESSION: Final = "default"
"""The conversation of whoever names no session, as with the providers of the framework."""

_given: ContextVar[int | None] = ContextVar("given", default=None)
"""How many of the messages that are being saved were given to the agent; what follows, it has just answered."""


class ChatMemoryHistoryProvider(HistoryProvider):
    """Keeps the messages of each session in the conversation of its id, behind *prefix*.

    *runtime* gives ``ChatMemoryService``: a ``ThreadRuntime`` serves any event loop and thread and opens at the first
    call; a ``ManagedRuntime`` serves its own event loop, faster.  It belongs to whoever made it.  The flags are those of
    ``HistoryProvider``, *skip_excluded* that of the framework's own providers.  Two providers of one agent, its audit
    for example, need a *prefix* each, or each would find the messages of the other.

    What is handed in is appended, all or none.  A transcript that begins with what is stored already, as clients send
    that keep it themselves, adds what is new in it; what the model has just answered is new, whatever it says.

    What chatmemory refuses raises ``IntegrationInvalidRequestException``, what fails beneath it
    ``IntegrationException``, each with chatmemory's own words; ``__cause__.error`` is the failure as a value.
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
        """Open nothing yet."""
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
        state: dict[str, Any] | None = None,  # noqa: ARG002  the framework names it
        **kwargs: Any,  # noqa: ARG002  likewise
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
        state: dict[str, Any] | None = None,  # noqa: ARG002  the framework names it
        **kwargs: Any,  # noqa: ARG002  likewise
    ) -> None:
        """Store *messages* at the end, all or none; what repeats the end of what is stored is stored once."""
        many = _given.get()
        given, answered = list(drafts(messages[:many])), list(drafts(messages[len(messages[:many]) :]))
        if given or answered:
            saving = _saved(self._conversation_id(session_id), given, answered)
            await to_its_end(RAISING.run(self._runtime, saving))

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Store what the flags say: an answer that says what an earlier one said is no repetition."""
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
    """Append what of *given* is not there yet, and *answered*."""
    identities = [identity_of(message) for message in given]
    if len(given) > 1 or not all(map(_is_question, identities)):
        most = min(2 * len(given), MAX_LIMIT)  # as many as can be repeated, and a summary behind each
        known = await do(stored_messages(conversation_id, limit=most, view="full"))
        stored = [identity_of(message) for message in known if message.role != "summary"]
        given = given[_repeated(stored, identities) :]
    if given or answered:
        await do(do.service(ChatMemoryService).add_messages(conversation_id, [*given, *answered]))


def _is_question(identity: Identity) -> bool:
    """Tell whether it may be said again: a user's message that bears no id."""
    return identity[0] == "user"


def _repeated(stored: Sequence[Identity], given: Sequence[Identity]) -> int:
    """Return how many of *given*, from the first on, are older than what is new: a transcript that was handed in again.

    The rule is that of the framework's own providers: the whole of a short history is looked for anywhere, the end of a
    long one at the beginning; a question alone proves no repetition.
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
