"""``Saving``: stores the memories that a caller gives, the turns of a session, and the facts found in messages."""

import logging
from collections.abc import Sequence
from typing import Final, cast

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect, Outcome
from chatmemory.errors import (
    DataValidationError,
    GenericMemoryError,
    MemoryConflictError,
    RecallError,
    RememberError,
)
from chatmemory.input.first_answers import RequestKey, digest, under
from chatmemory.input.made_id import made_id
from chatmemory.input.rules import choice_problems, id_problems, refuse, text_problems
from chatmemory.longterm.extraction.attributes.links import as_rules_read, linked, with_attributes_read
from chatmemory.longterm.extraction.proposals import Extraction, MemoryUpdate, Speaker
from chatmemory.longterm.memories import (
    AttributePolicy,
    DedupPolicy,
    Memory,
    MemoryRole,
    NewMemory,
    Provenance,
    RememberReport,
    Skipped,
)
from chatmemory.longterm.memory_rules import memories_problems, namespace_problems, update_problems
from chatmemory.longterm.recall.recalling import Recalling
from chatmemory.longterm.recall.self_echo import is_echo
from chatmemory.longterm.repository_values import MemoryListing
from chatmemory.longterm.saving.auto_save import Utterance, said_by_extraction, said_by_update
from chatmemory.text.long_work import beside_the_loop, long_or_short

log = logging.getLogger(__name__)

MOST_LINKED: Final = 500
"""How many of the newest memories with an attribute are compared with a new statement."""


class Saving(Recalling):
    """Stores memories, and finds facts that are worth storing."""

    @Effect.gen
    async def remember(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        memories: Sequence[NewMemory],
        *,
        dedup: DedupPolicy = "exact",
        attributes: AttributePolicy = "given",
    ) -> RememberReport:
        """See ``LongTermMemory``."""
        refuse(
            do,
            namespace_problems(namespace),
            await long_or_short(do, _values_of(memories), lambda: memories_problems(memories)),
            choice_problems("$.dedup", dedup, DedupPolicy),
            choice_problems("$.attributes", attributes, AttributePolicy),
        )
        if attributes == "read":
            known = await do(self._with_attributes(namespace))
            memories = await do(beside_the_loop(lambda: with_attributes_read(memories, known)))
        return await do(self._save(namespace, memories, dedup=dedup))

    @Effect.gen
    async def save_conversation_turn(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str,
        user_message_id: str | None = None,
        assistant_message_id: str | None = None,
        dedup: DedupPolicy = "first_50_characters",
        write_id: str | None = None,
    ) -> RememberReport:
        """See ``LongTermMemory``."""
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.session_id", session_id),
            choice_problems("$.dedup", dedup, DedupPolicy),
            text_problems("$.user_content", user_content),
            text_problems("$.assistant_content", assistant_content),
            id_problems("$.user_message_id", user_message_id, or_none=True),
            id_problems("$.assistant_message_id", assistant_message_id, or_none=True),
            id_problems("$.write_id", write_id, or_none=True),
        )
        turn = (
            _side("user", user_content, session_id, user_message_id),
            _side("assistant", assistant_content, session_id, assistant_message_id),
        )
        said = [session_id, user_content, assistant_content, dedup]
        save = self._once(write_id, namespace, said, self._save(namespace, turn, dedup=dedup))
        report = await do(save)
        await do(self._expire_old(namespace).lash(_note_late_expiry))
        return report

    @Effect.gen
    async def extract(self, do: Do[RecallError], content: str, *, role: Speaker = "user") -> Extraction:
        """See ``LongTermMemory``."""
        refuse(do, text_problems("$.content", content), choice_problems("$.role", role, Speaker))
        return await do(self.extractor.extract(content, role=role))

    @Effect.gen
    async def auto_save(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        content: str,
        *,
        role: Speaker = "user",
        session_id: str | None = None,
        message_id: str | None = None,
        update: MemoryUpdate | None = None,
        write_id: str | None = None,
    ) -> RememberReport:
        """See ``LongTermMemory``."""
        refuse(
            do,
            namespace_problems(namespace),
            text_problems("$.content", content),
            choice_problems("$.role", role, Speaker),
            id_problems("$.session_id", session_id, or_none=True),
            id_problems("$.message_id", message_id, or_none=True),
            id_problems("$.write_id", write_id, or_none=True),
            [] if update is None else update_problems(update),
        )
        said = Utterance(role, session_id, message_id)
        known = await do(self._with_attributes(namespace)) if role == "user" else ()
        extraction = None if update is not None else await do(self.extractor.extract(content, role=role))

        def read() -> Sequence[NewMemory | Skipped]:
            if update is not None:
                found = said_by_update(update, said)
            elif extraction is None:
                found = []
            else:
                proposals = (
                    linked(content, extraction.proposals, known) if role == "user" else extraction.proposals
                )
                least = self.extraction.least_confidence
                found = said_by_extraction(
                    evolve(extraction, proposals=proposals), said, least_confidence=least
                )
            return as_rules_read(content, found, known) if role == "user" else found

        # Comparing hundreds of memories with the text takes as long as reading a long one.
        found = await long_or_short(do, (content, *(memory.content for memory in known)), read)
        # A model may have written these memories, so they may break the rules.
        refuse(do, memories_problems([one for one in found if isinstance(one, NewMemory)]))
        fresh = [await do(self._unless_echo(namespace, one)) for one in found]
        save = self._save(namespace, fresh, dedup="exact")
        return await do(self._once(write_id, namespace, [session_id, content, role], save))

    def _once(
        self,
        write_id: str | None,
        namespace: Namespace,
        said: Sequence[str | None],
        save: Effect[RememberReport, RememberError],
    ) -> Effect[RememberReport, RememberError]:
        """Return *save* so that it happens once under *write_id*; *said* is the session and what else a repeated call has."""
        if write_id is None:
            return save
        name = made_id("write", namespace.user, namespace.app, said[0] or "", write_id)
        key = RequestKey(user=namespace.user, name=name, request=digest([*said]), now=self.clock.now())

        async def once() -> Outcome[RememberReport, RememberError]:
            with under(key):
                return await save

        return Effect.from_outcome(once)

    def _with_attributes(self, namespace: Namespace) -> Effect[tuple[Memory, ...], GenericMemoryError]:
        """Return the memories that are true now in exactly this namespace and have an attribute, newest first."""
        listing = MemoryListing(namespace, MOST_LINKED, exact_app=True, has_attribute=True)
        return self.repository.list(listing).alt(GenericMemoryError)

    @Effect.gen
    async def _unless_echo(
        self, do: Do[RecallError], namespace: Namespace, found: NewMemory | Skipped
    ) -> NewMemory | Skipped:
        """Return *found*, or skipped when it repeats a memory, which a model may just have been shown."""
        if isinstance(found, Skipped):
            return found
        recalled = await do(self.recall(namespace, found.content))
        echoed = (hit.memory.id for hit in recalled.hits if is_echo(found.content, [hit.memory.content]))
        texts = [found.content, *[hit.memory.content for hit in recalled.hits]]
        return await long_or_short(do, texts, lambda: next((Skipped("echo", of) for of in echoed), found))

    @Effect.gen
    async def _save(
        self,
        do: Do[DataValidationError | MemoryConflictError | GenericMemoryError],
        namespace: Namespace,
        found: Sequence[NewMemory | Skipped],
        *,
        dedup: DedupPolicy,
    ) -> RememberReport:
        """Store the memories that are not skipped, in one transaction, and report on all of *found* in order."""
        memories = [one for one in found if isinstance(one, NewMemory)]
        drafted = await do(self.drafts.draft(namespace, memories, dedup=dedup))
        stored = await do(self._store(drafted.drafts)) if memories else ()
        if len(stored) != len(
            memories
        ):  # a repeated request, whose memories were worded differently the first time
            return RememberReport(stored)
        if len(stored) < len(found):
            rest = iter(stored)
            stored = tuple([one if isinstance(one, Skipped) else next(rest) for one in found])
        return RememberReport(stored, drafted.unembedded, drafted.reason)


def _values_of(memories: object) -> list[object]:
    """Return the values of the memories, which may take long to check; texts do not."""
    given = cast("Sequence[object]", memories) if isinstance(memories, list | tuple) else ()
    return [getattr(memory, "value", None) for memory in given]


def _side(role: MemoryRole, content: str, session_id: str, message_id: str | None) -> NewMemory | Skipped:
    """Return one side of a turn as a short-term memory, or as skipped when it is empty."""
    if not content.strip():
        return Skipped("empty")
    return NewMemory(
        content,
        source="user_stated" if role == "user" else "inferred",
        role=role,
        session_id=session_id,
        memory_type="short_term",
        provenance=Provenance(() if message_id is None else (message_id,)),
    )


def _note_late_expiry(error: GenericMemoryError) -> Effect[int]:
    """Log the failure only: the turn is stored, and a later call removes the expired memories."""
    log.warning("short-term memories could not be expired: %s", error)
    return Effect.succeed(0)
