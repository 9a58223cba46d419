"""``ChatMemoryContextProvider``: what is remembered of earlier sessions, before a model of Agent Framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Runner
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, clean_text
from chatmemory.integrations.agent_framework.messages import RAISING
from chatmemory.integrations.raising import to_its_end
from chatmemory.integrations.recalled_text import recalled
from chatmemory.longterm.contract import LongTermMemoryService


class ChatMemoryContextProvider(ContextProvider):
    """Shows the model the long-term memories that are recalled for a user's message, and saves what the user says.

    They stand before the message, fenced as data, as the context message of *source_id*, which no history stores
    unless it was asked to.  When the model has answered, the facts in what the user said become memories; what other
    providers, models and tools say is no fact about a user.

    Where to put it: behind the history, whose text then stays the same for caches of prompts.

    Args:
        runtime: gives ``LongTermMemoryService``, as for ``ChatMemoryHistoryProvider``, with the same exceptions.
        namespace: whose memories; a function of the session when an agent serves many users.
        source_id: names what this provider adds.
        limit: memories at most; None: as configured.
        saves: whether what the user says is saved.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "chatmemory"

    after_run_once_per_turn = True
    """What a loop says to its agent between two rounds is not the user's."""

    def __init__(
        self,
        runtime: Runner[LongTermMemoryService],
        namespace: Namespace | Callable[[AgentSession], Namespace],
        source_id: str = DEFAULT_SOURCE_ID,
        *,
        limit: int | None = None,
        saves: bool = True,
    ) -> None:
        """Open nothing yet."""
        super().__init__(source_id)
        self.namespace = namespace
        self.limit = limit
        self.saves = saves
        self._runtime = runtime

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002  the framework names it
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002  likewise
    ) -> None:
        """Add what is remembered for what the user says now."""
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
        agent: SupportsAgentRun,  # noqa: ARG002  the framework names it
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002  likewise
    ) -> None:
        """Save the facts in what the user has said."""
        said = _said_now(context.input_messages)
        if self.saves and said:
            namespace, session_id = self._namespace_of(session), context.session_id
            saving = LongTermMemoryService.use(
                lambda memory: memory.auto_save(namespace, said, session_id=session_id)
            )
            await to_its_end(RAISING.run(self._runtime, saving))

    async def end_session(self, session: AgentSession) -> int:
        """Remove the short-term memories of a session that has ended, if ``memory.expiry.atSessionEnd`` is set, and return how many.

        Call it where the session itself ends, which tells no provider.
        """
        namespace, session_id = self._namespace_of(session), session.session_id
        ending = LongTermMemoryService.use(lambda memory: memory.end_session(namespace, session_id))
        return await to_its_end(RAISING.run(self._runtime, ending))

    def _namespace_of(self, session: AgentSession) -> Namespace:
        return self.namespace if isinstance(self.namespace, Namespace) else self.namespace(session)


def _said_now(inputs: Sequence[Message]) -> str:
    """Return what the user has said last, all that no answer parts: a client may hand in what was said before.

    Tools and other agents may have spoken since.  What a provider has added bears its mark, and is not the user's.
    """
    said: list[str] = []
    for message in reversed(inputs):
        if message.role == "user" and "_attribution" not in message.additional_properties:
            said += filter(None, (message.text.strip(),))
        elif message.role == "assistant" and said:
            break
    return clean_text("\n".join(reversed(said)))[:MAX_CONTENT_CHARACTERS]
