"""``ChatMemoryBlock``: long-term memory as a block of LlamaIndex's ``Memory``.

    block = ChatMemoryBlock(namespace=Namespace("mei"), runtime=ThreadRuntime(stacks.embedded("agent.db")))
    memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
    await agent.run("Where do I live?", memory=memory)

``Memory`` passes a block only the messages that no longer fit into its own token limit, which a short session never
reaches.  Therefore this block also saves the messages that it is shown: a user's message is stored in its turn, and
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeAlias, cast, final

from attrs import frozen
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer  # pyright: ignore[reportUnknownVariableType]  it returns a bare List
from pydantic import SkipValidation

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect, Runner
from chatmemory.errors import RememberError
from chatmemory.integrations.as_given import storable_content
from chatmemory.integrations.llama_index.messages import RAISING
from chatmemory.integrations.raising import to_its_end
from chatmemory.integrations.recalled_text import recalled
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.extraction.memory_extractor import Speaker

SESSION: Final = "session_id"
"""The name of the session id, as an argument of a block or in a message's ``additional_kwargs``."""

SPEAKERS: Final[Mapping[MessageRole, Speaker]] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
}

LOOKED_BACK: Final = 200
"""The number of stored sides of turns that are checked when a session continues in another process."""

MOST_SESSIONS: Final = 100
"""The number of sessions whose turns a block keeps in memory; those of other sessions are looked up again."""

Said: TypeAlias = tuple[Speaker, str]


@final
@frozen
class _Turn:
    """The last question of a session: its *number*, what was recalled for it, and what is stored by now."""

    number: int
    asked: str
    recalled: str
    kept: frozenset[Said]


def _tokenizer() -> Callable[[str], Sequence[object]]:
    return cast("Callable[[str], Sequence[object]]", get_tokenizer())


class ChatMemoryBlock(BaseMemoryBlock[str]):
    """Stores the user's messages, and recalls the memories for the newest message, fenced as data.

    *runtime* provides ``LongTermMemoryService``.  A ``ThreadRuntime`` works with any event loop, and with
    ``Memory``'s methods that do not await; a ``ManagedRuntime`` works with its own loop, faster.  The block does not
    close it.

    Each side of a turn is stored as a short-term memory of its session, each fact that the user states as a long-term
    memory of all sessions.  Input that chatmemory refuses raises ``ValueError``, any other failure ``RuntimeError``,
    each with chatmemory's own message; ``__cause__.error`` is the failure as a value.
    """

    name: str = Field(default="LongTermMemory", description="The name of the memory block.")
    namespace: Namespace = Field(description="Whose memories.")
    runtime: SkipValidation[Runner[LongTermMemoryService]] = Field(
        exclude=True, description="What runs the effects of LongTermMemoryService."
    )
    limit: int | None = Field(default=None, description="Memories at most; None: as configured.")
    tokenizer_fn: Callable[[str], Sequence[object]] = Field(
        default_factory=_tokenizer, exclude=True, description="Counts tokens where the block is truncated."
    )
    _turns: dict[str | None, _Turn] = PrivateAttr(default_factory=dict)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        session_id: str | None = block_kwargs.get(SESSION)
        said = _said(messages or [])
        questions = [text for speaker, text in said if speaker == "user"]
        asked = questions[-1] if questions else ""
        turn = self._turns.get(session_id)
        if turn is not None and (turn.number, turn.asked) == (len(questions), asked):
            text = turn.recalled  # an agent asks before each of its steps
        else:
            use_id = sha256(f"{session_id} {asked}".encode()).hexdigest()
            recalling = recalled(
                self.namespace, asked, limit=self.limit, session_id=session_id, use_id=use_id
            )
            text = (await RAISING.run(self.runtime, recalling)).text
        # After recalling: otherwise the question itself would be shown to the model as a memory.
        await self._keep(said, session_id)
        self._turns.pop(session_id, None)
        self._turns[session_id] = _Turn(len(questions), asked, text, frozenset(said))
        if len(self._turns) > MOST_SESSIONS:
            del self._turns[next(iter(self._turns))]
        return text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions: dict[str | None, list[ChatMessage]] = {}
        for message in messages:
            sessions.setdefault(message.additional_kwargs.get(SESSION), []).append(message)
        for session_id, its_messages in sessions.items():
            await self._keep(_said(its_messages), session_id)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return *content* without its last, least relevant memories, until *tokens_to_truncate* are removed; None when none is left."""
        if not content:
            return None
        opening, notice, *lines, closing = content.split("\n")
        gone = 0
        while lines and gone < tokens_to_truncate:
            gone += len(self.tokenizer_fn(lines.pop()))
        return "\n".join((opening, notice, *lines, closing)) if lines else None

    async def aend_session(self, session_id: str) -> int:
        """Remove the turns of a session that has ended, if ``memory.expiry.atSessionEnd`` is set, and return how many sides.

        Call it where the session ends, because no block is notified of that.  Sides of turns that were promoted or
        pinned stay.
        """
        self._turns.pop(session_id, None)
        ending = LongTermMemoryService.use(lambda memory: memory.end_session(self.namespace, session_id))
        return await to_its_end(RAISING.run(self.runtime, ending))

    async def _keep(self, said: Sequence[Said], session_id: str | None) -> None:
        turn = self._turns.get(session_id)
        fresh = [one for one in dict.fromkeys(said) if turn is None or one not in turn.kept]
        if fresh:
            await to_its_end(RAISING.run(self.runtime, _kept(self.namespace, fresh, session_id)))


@Effect.gen
async def _kept(
    do: Do[RememberError, LongTermMemoryService],
    namespace: Namespace,
    said: Sequence[Said],
    session_id: str | None,
) -> None:
    """Save the texts that were not saved before: the facts first, so that a run after a crash saves them again."""
    memory = do.service(LongTermMemoryService)
    known: set[tuple[str, str]] = set()
    if session_id is not None:
        page = await do(
            memory.list(namespace, session_id=session_id, memory_type="short_term", limit=LOOKED_BACK)
        )
        known = {(kept.role, kept.content) for kept in page.memories}
    for speaker, text in said:
        if (speaker, text) in known:
            continue  # its facts are skipped as well: a fact that was forgotten since does not come back
        if speaker == "user":
            await do(memory.auto_save(namespace, text, session_id=session_id))
        if session_id is not None:
            turn = (text, "") if speaker == "user" else ("", text)
            await do(memory.save_conversation_turn(namespace, *turn, session_id=session_id))


def _said(messages: Sequence[ChatMessage]) -> list[Said]:
    """Return the texts of people and models; tools and systems make no statements about a user."""
    return [
        (SPEAKERS[message.role], storable_content(text))
        for message in messages
        if message.role in SPEAKERS and (text := (message.content or "").strip())
    ]
