"""``LongTermMemories``: shows a model the memories of earlier conversations."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import AgentDepsT, RunContext

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Runner
from chatmemory.input.rules import clean_text
from chatmemory.integrations.pydantic_ai.history import RAISING, said_in
from chatmemory.integrations.raising import to_its_end
from chatmemory.integrations.recalled_text import recalled
from chatmemory.longterm.contract import LongTermMemoryService


@dataclass
class LongTermMemories(AbstractCapability[AgentDepsT]):
    """Shows the model the long-term memories that are recalled for a user's message, and saves what the user says."""

    namespace: Namespace
    runtime: Runner[LongTermMemoryService]
    _: KW_ONLY
    limit: int | None = None
    saves: bool = True
    _shown: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False, compare=False)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractCapability[AgentDepsT]:  # noqa: ARG002  required by the framework
        """Return a copy for one run, because each run remembers the memories that it has shown."""
        return replace(self)

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the memories before the user's newest message, in this request alone."""
        messages = request_context.messages
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if isinstance(message, ModelRequest) and (asked := _asked(message)):
                if asked not in self._shown:  # once for all requests of a run
                    self._shown[asked] = await self._remembered(asked, ctx)
                if self._shown[asked]:
                    shown = _with_data(message, self._shown[asked])
                    request_context.messages = [*messages[:index], shown, *messages[index + 1 :]]
                break
        return request_context

    async def end_session(self, conversation_id: str) -> int:
        """Remove the short-term memories of a conversation that has ended, if ``memory.expiry.atSessionEnd`` is set.

        Call it where the conversation ends, because no capability is notified of that.

        Returns:
            the number of removed memories; 0 when the setting is off.
        """
        ending = LongTermMemoryService.use(lambda memory: memory.end_session(self.namespace, conversation_id))
        return await to_its_end(RAISING.run(self.runtime, ending))

    async def _remembered(self, asked: str, ctx: RunContext[AgentDepsT]) -> str:
        text = clean_text(asked)
        recalling = recalled(
            self.namespace, text, limit=self.limit, session_id=ctx.conversation_id, use_id=ctx.run_id
        )
        shown = (await RAISING.run(self.runtime, recalling)).text
        if self.saves and ctx.prompt is not None:
            # Afterwards, or the model would be shown its own question as a memory.
            saving = LongTermMemoryService.use(
                lambda memory: memory.auto_save(self.namespace, text, session_id=ctx.conversation_id)
            )
            await to_its_end(RAISING.run(self.runtime, saving))
        return shown

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None, because a runtime cannot be written into the specification of an agent."""
        return None


def _asked(request: ModelRequest) -> str:
    return "\n".join(said_in(part) for part in request.parts if isinstance(part, UserPromptPart))


def _with_data(request: ModelRequest, data: str) -> ModelRequest:
    """Return the request with *data* before the user's text, and after the results of tools."""
    at = next(index for index, part in enumerate(request.parts) if isinstance(part, UserPromptPart))
    return replace(request, parts=[*request.parts[:at], UserPromptPart(data), *request.parts[at:]])
