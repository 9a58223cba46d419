"""How memories come in: given by a caller, saved turn by turn, or found in what was said."""

import logging
from collections.abc import Sequence
from typing import Final

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.errors import (
    DataValidationError,
    GenericMemoryError,
    MemoryConflictError,
    RecallError,
    RememberError,
)
from chatmemory.input.made_id import made_id
from chatmemory.input.rules import choice_problems, id_problems, refuse, text_problems
from chatmemory.longterm.attribute_links import as_rules_read, linked, with_attributes_read
from chatmemory.longterm.auto_save import Utterance, said_by_extraction, said_by_update
from chatmemory.longterm.extraction.proposals import Extraction, MemoryUpdate, Speaker
from chatmemory.longterm.memories import (
    AttributePolicy,
    DedupPolicy,
    Duplicate,
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
from chatmemory.text.long_work import beside_the_loop

log = logging.getLogger(__name__)

MOST_LINKED: Final = 200
"""Memories with an attribute that a new statement is read in the light of, the newest ones."""


class Saving(Recalling):
    """Stores memories, and finds those that are worth it."""

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
            memories_problems(memories),
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
        report = await do(self._save(namespace, _named(turn, write_id, namespace, session_id), dedup=dedup))
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
        if update is None:
            extraction = await do(self.extractor.extract(content, role=role))
            if role == "user":
                extraction = evolve(extraction, proposals=linked(content, extraction.proposals, known))
            least = self.extraction.least_confidence
            found = said_by_extraction(extraction, said, least_confidence=least)
        else:
            found = said_by_update(update, said)
        if role == "user":
            found = as_rules_read(found, known)
        # A model has written it, perhaps: it obeys no rules by itself.
        refuse(do, memories_problems([one for one in found if isinstance(one, NewMemory)]))
        fresh = [await do(self._unless_echo(namespace, one)) for one in found]
        save = self._save(namespace, _named(fresh, write_id, namespace, session_id or ""), dedup="exact")
        return await do(save if write_id is None else save.lash(_saved_before))

    def _with_attributes(self, namespace: Namespace) -> Effect[tuple[Memory, ...], GenericMemoryError]:
        """Return what is true now in exactly this namespace and has an attribute, newest first."""
        listing = MemoryListing(namespace, MOST_LINKED, exact_app=True, has_attribute=True)
        return self.repository.list(listing).alt(GenericMemoryError)

    @Effect.gen
    async def _unless_echo(
        self, do: Do[RecallError], namespace: Namespace, found: NewMemory | Skipped
    ) -> NewMemory | Skipped:
        """Skip what repeats a memory: it is there already, and a model may just have been shown it."""
        if isinstance(found, Skipped):
            return found
        recalled = await do(self.recall(namespace, found.content))
        echoed = (hit.memory.id for hit in recalled.hits if is_echo(found.content, [hit.memory.content]))
        return next((Skipped("echo", of) for of in echoed), found)

    @Effect.gen
    async def _save(
        self,
        do: Do[DataValidationError | MemoryConflictError | GenericMemoryError],
        namespace: Namespace,
        found: Sequence[NewMemory | Skipped],
        *,
        dedup: DedupPolicy,
    ) -> RememberReport:
        """Store what is not skipped, in one transaction, and report on everything in its place."""
        memories = [one for one in found if isinstance(one, NewMemory)]
        drafted = await do(self.drafts.draft(namespace, memories, dedup=dedup))
        stored = iter(await do(self._store(drafted.drafts)) if memories else ())
        outcomes = tuple([one if isinstance(one, Skipped) else next(stored) for one in found])
        return RememberReport(outcomes, drafted.unembedded, drafted.reason)


def _named(
    found: Sequence[NewMemory | Skipped], write_id: str | None, namespace: Namespace, session_id: str
) -> Sequence[NewMemory | Skipped]:
    """Give each memory the id that *write_id* and its place make; None: new ids are made."""
    if write_id is None:
        return found
    return [
        evolve(one, id=made_id(write_id, namespace.user, namespace.app, session_id, "said", str(place)))
        if isinstance(one, NewMemory)
        else one
        for place, one in enumerate(found)
    ]


def _saved_before(error: RememberError) -> Effect[RememberReport, RememberError]:
    """Report what a call before has stored: the extractor has found the same in other words."""
    if isinstance(error, MemoryConflictError):
        return Effect.succeed(RememberReport(tuple(map(Duplicate, error.memory_ids))))
    return Effect.fail(error)


def _side(role: MemoryRole, content: str, session_id: str, message_id: str | None) -> NewMemory | Skipped:
    """Return one side of a turn: short-term, whoever spoke."""
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
    """Go on: the turn is stored, and what should have gone goes with a later one."""
    log.warning("short-term memories could not be expired: %s", error)
    return Effect.succeed(0)
