"""``streamed_reply``: passes a model's reply to the client piece by piece, and stores it as one message.

``effect/stream`` runs and closes the stream, ``ChatMemory`` stores the message.
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
from chatmemory.input.rules import joined_surrogates

E = TypeVar("E")
R = TypeVar("R")

INCOMPLETE: Final = "incomplete"
"""The metadata key of an incomplete reply: ``interrupted`` when the client stopped reading, ``failed`` when the model
failed."""

STORE_SECONDS: Final = (
    10.0  # the longest time that a request stays open after the client has hung up, when the store is stuck
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
    """Pass *pieces* on as they arrive, and store them as one message of the assistant before the stream ends.

    When the client hangs up, the task is cancelled or *pieces* fail, the text so far is stored with
    ``"incomplete": "interrupted"`` or ``"failed"`` in its metadata.  This takes at most 10 seconds, and a failure of it is
    logged.  A reply without text is not stored.

    Args:
        memory: the service that stores the reply.
        conversation_id: the conversation that the reply belongs to; 1 to 512 characters.
        pieces: the texts of the reply, as the model returns them.
        message_id: the id of the stored message; None: a new id for each run.  A reply that is stored again with the same
            id is stored once.
        metadata: the metadata of the stored message; None: no metadata.

    Returns:
        A stream of the same pieces.

    Fails with:
        the errors of *pieces*, and the errors of ``ChatMemory.add_messages`` when the complete reply cannot be stored.
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
        """Record that the reply is complete."""
        self._is_whole = True

    def store(self, incomplete: Literal["interrupted", "failed"] | None = None) -> Effect[None, AddError]:
        """Store the text so far, unless it is empty."""
        content = joined_surrogates("".join(self.said))  # a model may stream an emoji in two halves
        if not content:
            return Effect.succeed(None)
        marks: dict[str, Json] = {} if incomplete is None else {INCOMPLETE: incomplete}
        message = NewMessage(
            "assistant", content, self._message_id, metadata={**self._metadata, **marks} or None
        )
        adding = self._memory.add_messages(self._conversation_id, [message]).map(lambda _: self._settle())
        return adding.tap_error(lambda _: Effect.sync(self._settle))

    def rescue(self, exit_: Exit[Any, Any]) -> Effect[None]:
        """Store the text so far, unless an attempt to store it has already ended.

        A complete reply whose storing was cancelled is stored as a complete reply: it has the same id, so it is stored
        once.
        """
        if self._is_settled:
            return Effect.succeed(None)
        broke_off = isinstance(exit_, Failure) and exit_.failure() != Interrupt()
        storing = self.store(None if self._is_whole else "failed" if broke_off else "interrupted")
        return storing.timeout(STORE_SECONDS, _too_late).exit().map(self._log_failure)

    def _settle(self) -> None:
        self._is_settled = True

    def _log_failure(self, exit_: Exit[None, AddError]) -> None:
        if isinstance(exit_, Failure):
            kind = kind_of(exit_.failure())
            log.error("what was received of a reply in %s was not stored: %s", self._conversation_id, kind)


def _too_late() -> GenericMemoryError:
    detail = f"the store took more than {STORE_SECONDS:g} seconds"
    return GenericMemoryError(RepositoryError("store a reply", "outcome_unknown", detail))
