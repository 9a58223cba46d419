"""``Saving``: stores memories, and finds in a message the facts that are worth storing."""

from collections.abc import Sequence
from typing import final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect, Outcome
from chatmemory.effect.services.clock import Clock
from chatmemory.errors import (
    DataValidationError,
    GenericMemoryError,
    MemoryConflictError,
    MemoryNotFoundError,
    MemoryStoreError,
    RememberError,
    memory_error,
)
from chatmemory.input.first_answers import RequestKey, digest, request_key, under
from chatmemory.input.made_id import made_id
from chatmemory.input.rules import refuse
from chatmemory.longterm.extraction.attributes.links import as_rules_read, linked
from chatmemory.longterm.extraction.memory_extractor import MemoryExtractor, MemoryUpdate
from chatmemory.longterm.memories import DedupPolicy, NewMemory, RememberReport, SaveOutcome, Skipped
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.memory_rules import memories_problems
from chatmemory.longterm.reading import with_attributes
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory.longterm.saving.auto_save import Utterance, said_by_extraction, said_by_update
from chatmemory.longterm.saving.memory_drafts import MemoryDrafts
from chatmemory.settings.memory_settings import ExtractionSettings
from chatmemory.text.long_work import long_or_short


@final
@frozen
class Saving:
    """Stores memories in *repository*; *drafts* makes the drafts, *extractor* finds facts in a text."""

    repository: MemoryRepository
    drafts: MemoryDrafts
    extractor: MemoryExtractor
    settings: ExtractionSettings
    clock: Clock

    @Effect.gen
    async def save(
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
        # A repeated request asks the store in any case: its memories are echoes now, or were worded differently.
        is_asked = bool(memories) or request_key() is not None
        stored = await do(self.store(drafted.drafts)) if is_asked else ()
        if len(stored) != len(memories):
            return RememberReport(stored)
        if len(stored) < len(found):
            rest = iter(stored)
            stored = tuple([one if isinstance(one, Skipped) else next(rest) for one in found])
        return RememberReport(stored, drafted.unembedded, drafted.reason)

    def store(
        self, drafts: tuple[MemoryDraft, ...]
    ) -> Effect[tuple[SaveOutcome, ...], MemoryConflictError | GenericMemoryError]:
        """Store *drafts*; each of them has ``replaces`` None."""
        return self.repository.store(drafts).alt(_with_nothing_replaced)

    def once(
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

    @Effect.gen
    async def facts_in(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        content: str,
        said: Utterance,
        update: MemoryUpdate | None,
    ) -> Sequence[NewMemory | Skipped]:
        """Return the facts in *content*, in order; those that are not worth storing are skipped, with the reason.

        *update* has the facts that a model found; None: the extractor finds them.

        Fails with:
            DataValidationError: a model gave facts that break the rules of memories.
        """
        is_users = said.role == "user"
        known = await do(with_attributes(self.repository, namespace)) if is_users else ()
        extraction = None if update is not None else await do(self.extractor.extract(content, role=said.role))

        def read() -> Sequence[NewMemory | Skipped]:
            if update is not None:
                found = said_by_update(update, said)
            elif extraction is None:
                found = []
            else:
                proposals = linked(content, extraction.proposals, known) if is_users else extraction.proposals
                least = self.settings.least_confidence
                found = said_by_extraction(
                    evolve(extraction, proposals=proposals), said, least_confidence=least
                )
            return as_rules_read(content, found, known) if is_users else found

        # Comparing hundreds of memories with the text takes as long as reading a long one.
        found = await long_or_short(do, (content, *(memory.content for memory in known)), read)
        refuse(do, memories_problems([one for one in found if isinstance(one, NewMemory)]))
        return found


def _with_nothing_replaced(error: MemoryStoreError) -> MemoryConflictError | GenericMemoryError:
    if isinstance(error, MemoryNotFoundError):
        msg = f"no draft replaces a memory by its id, but the repository answered: {error}"
        raise TypeError(msg)
    return memory_error(error)
