"""``ChatMemoryContextProvider``: adds memories of earlier sessions to the messages for a model of Agent Framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Runner
from chatmemory.integrations.agent_framework.messages import RAISING
from chatmemory.integrations.as_given import storable_content
from chatmemory.integrations.raising import to_its_end
from chatmemory.integrations.recalled_text import recalled
from chatmemory.longterm.contract import LongTermMemoryService


class ChatMemoryContextProvider(ContextProvider):
    """Adds the long-term memories that are recalled for a user's message, and saves facts from the user's messages.

    The memories come before the message, fenced as data, as the context message of *source_id*; a history stores them
    only when it is configured to.  After the model has answered, the facts in the user's messages become memories;
    messages of other providers, models and tools are never saved as facts about a user.

    Place it after the history, so that the text of the history stays the same for prompt caches.

    Args:
        runtime: provides ``LongTermMemoryService``, as for ``ChatMemoryHistoryProvider``, with the same exceptions.
        namespace: the owner of the memories; a function of the session when an agent serves many users.
        source_id: the name of this provider's context.
        limit: the largest number of memories; None: the configured number.
        saves: whether facts from the user's messages are saved.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "chatmemory"

    after_run_once_per_turn = True
    """A message of a loop to its agent between two rounds is not a message of the user."""

    def __init__(
        self,
        runtime: Runner[LongTermMemoryService],
        namespace: Namespace | Callable[[AgentSession], Namespace],
        source_id: str = DEFAULT_SOURCE_ID,
        *,
        limit: int | None = None,
        saves: bool = True,
    ) -> None:
        """Store the arguments; nothing is opened yet."""
        super().__init__(source_id)
        self.namespace = namespace
        self.limit = limit
        self.saves = saves
        self._runtime = runtime

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002  required by the framework
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002  required by the framework
    ) -> None:
        """Add the memories that are recalled for the user's new message."""
        asked = _said_now(context.input_messages)
        if not asked:
            return
        recalling = recalled(
            self._namespace_of(session), asked, limit=self.limit, session_id=context.session_id
        )
        memories = await RAISING.run(self._runtime, recalling)
        if memories.text:
            others = [one for one in memories.session_ids if one != context.session_id]
            context.extend_messages(self, [Message("user", [memories.text])], origin_session_ids=others)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002  required by the framework
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002  required by the framework
    ) -> None:
        """Save the facts in the user's messages."""
        said = _said_now(context.input_messages)
        if self.saves and said:
            namespace, session_id = self._namespace_of(session), context.session_id
            saving = LongTermMemoryService.use(
                lambda memory: memory.auto_save(namespace, said, session_id=session_id)
            )
            await to_its_end(RAISING.run(self._runtime, saving))

    async def end_session(self, session: AgentSession) -> int:
        """Remove the short-term memories of a session that has ended, if ``memory.expiry.atSessionEnd`` is set, and return how many.

        Call it where the session ends, because no provider is notified of that.
        """
        namespace, session_id = self._namespace_of(session), session.session_id
        ending = LongTermMemoryService.use(lambda memory: memory.end_session(namespace, session_id))
        return await to_its_end(RAISING.run(self._runtime, ending))

    def _namespace_of(self, session: AgentSession) -> Namespace:
        return self.namespace if isinstance(self.namespace, Namespace) else self.namespace(session)


def _said_now(inputs: Sequence[Message]) -> str:
    """Return the user's newest messages, up to the last answer, because a client may pass in earlier messages.

    Tools and other agents may have spoken since.  A message that a provider added has its mark, and is left out.
    """
    said: list[str] = []
    for message in reversed(inputs):
        if message.role == "user" and "_attribution" not in message.additional_properties:
            said += filter(None, (message.text.strip(),))
        elif message.role == "assistant" and said:
            break
    return storable_content("\n".join(reversed(said)))
