"""``streamed_reply``: a model's reply goes through to the client piece by piece, and ends as one stored message.

How a stream is run and released is left to ``effect/stream``, how a message is stored to ``ChatMemory``.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, Literal, final

from typing_extensions import TypeVar

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Effect, Exit, Failure, Interrupt, Stream
from chatmemory.effect.services.ids import IdsTag
from chatmemory.errors import AddError, GenericMemoryError, RepositoryError
from chatmemory.errors.service_errors import kind_of
from chatmemory.input.json_value import Json, JsonObject

__all__ = ["INCOMPLETE", "streamed_reply"]

E = TypeVar("E")
R = TypeVar("R")

INCOMPLETE: Final = "incomplete"
"""The metadata of a reply that is not whole: ``interrupted`` if nobody read on, ``failed`` if the model broke off."""

STORE_SECONDS: Final = (
    10.0  # a client that hangs up must not keep its request open for longer when the store is stuck
)

log = logging.getLogger("chatmemory")


def streamed_reply(
    memory: ChatMemory,
    conversation_id: str,
    pieces: Stream[str, E, R],
    *,
    message_id: str | None = None,
    metadata: JsonObject | None = None,
) -> Stream[str, E | AddError, R]:
    """Give *pieces* as they come, and store them as one message of the assistant before the stream ends.

    When the client hangs up, the task is cancelled or *pieces* fail, what the model has said so far is stored, with
    ``"incomplete": "interrupted"`` or ``"failed"`` in its metadata; that takes at most 10 seconds, and a failure of it
    is logged.  A reply of no text is not stored.

    Args:
        memory: where the reply is kept.
        conversation_id: the conversation that it belongs to.
        pieces: the reply, as the model gives it.
        message_id: the id of the stored message; ``None`` makes one for each run.  A reply that is stored again under
            its id is stored once.
        metadata: of the stored message.

    Returns:
        A stream of the same pieces.  It fails as *pieces* do, or as ``ChatMemory.add_messages`` when the whole reply
        cannot be stored.
    """

    def begin(new_id: str) -> Stream[str, E | AddError, R]:
        reply = _Reply(memory, conversation_id, message_id or new_id, metadata or {})
        heard = pieces.tap(lambda piece: Effect.sync(lambda: reply.said.append(piece)))
        return heard.on_end(Effect.sync(reply.finish).bind(lambda _: reply.store())).on_exit(reply.rescue)

    return Stream.unwrap(Effect.service(IdsTag).map(lambda ids: begin(ids.message_id())))


@final
class _Reply:
    """One run of a reply."""

    def __init__(
        self, memory: ChatMemory, conversation_id: str, message_id: str, metadata: Mapping[str, Json]
    ) -> None:
        self._memory = memory
        self._conversation_id = conversation_id
        self._message_id = message_id
        self._metadata = metadata
        self._is_whole = False
        self._is_settled = False
        self.said: list[str] = []

    def finish(self) -> None:
        """Note that nothing more will come."""
        self._is_whole = True

    def store(self, incomplete: Literal["interrupted", "failed"] | None = None) -> Effect[None, AddError]:
        """Store what was said, unless that is nothing."""
        content = "".join(self.said)
        if not content:
            return Effect.succeed(None)
        marks: dict[str, Json] = {} if incomplete is None else {INCOMPLETE: incomplete}
        message = NewMessage(
            "assistant", content, self._message_id, metadata={**self._metadata, **marks} or None
        )
        adding = self._memory.add_messages(self._conversation_id, [message]).map(lambda _: self._settle())
        return adding.tap_error(lambda _: Effect.sync(self._settle))

    def rescue(self, exit_: Exit[Any, Any]) -> Effect[None]:
        """Store what was said if that has not been tried to its end.

        A whole reply whose storing was cancelled is stored as it was to be: under its id it is the same message.
        """
        if self._is_settled:
            return Effect.succeed(None)
        broke_off = isinstance(exit_, Failure) and Interrupt() not in exit_.failure().reasons
        storing = self.store(None if self._is_whole else "failed" if broke_off else "interrupted")
        return storing.timeout(STORE_SECONDS, _too_late).exit().map(self._log_failure)

    def _settle(self) -> None:
        self._is_settled = True

    def _log_failure(self, exit_: Exit[None, AddError]) -> None:
        if isinstance(exit_, Failure):
            kind = kind_of(exit_.failure().reasons[0])
            log.error("what was received of a reply in %s was not stored: %s", self._conversation_id, kind)


def _too_late() -> GenericMemoryError:
    detail = f"the store took more than {STORE_SECONDS:g} seconds"
    return GenericMemoryError(RepositoryError("store a reply", "outcome_unknown", detail))
