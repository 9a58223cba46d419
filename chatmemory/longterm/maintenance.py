"""``Maintenance``: reads, lists, corrects, supersedes, restores, promotes, pins and re-embeds single memories."""

import json
from datetime import datetime
from typing import Final

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.schedule import Schedule
from chatmemory.errors import (
    GenericMemoryError,
    MemoryChangedError,
    MemoryChangeError,
    MemoryNotFoundError,
    MemoryReadError,
    Problem,
    RecallError,
    memory_error,
)
from chatmemory.input.choices import given
from chatmemory.input.json_value import Json
from chatmemory.input.rules import id_problems, limit_problems, read_cursor, refuse
from chatmemory.longterm.memories import (
    Category,
    Memory,
    MemoryChanges,
    MemoryFacets,
    MemoryPage,
    MemoryType,
    NewMemory,
    ReEmbedReport,
    Source,
    Stored,
)
from chatmemory.longterm.memory_history import MemoryHistory
from chatmemory.longterm.memory_parts import MemoryParts
from chatmemory.longterm.memory_rules import (
    changes_problems,
    flag_problems,
    memory_problems,
    namespace_problems,
)
from chatmemory.longterm.re_embedding import ReEmbedding
from chatmemory.longterm.repository_values import MemoryListing
from chatmemory.longterm.saving.memory_drafts import text_to_embed

REWRITES: Final = 10  # retries of a correction without a version, when other callers change the same memory


OTHER_KEY: Final = "is the key of a value: put the value under the other key, and delete this one"


class Maintenance(MemoryParts):
    """Reads, lists, corrects, supersedes, restores, promotes, pins and re-embeds memories."""

    @Effect.gen
    async def get(self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str) -> Memory:
        """See ``LongTermMemory``."""
        refuse(do, namespace_problems(namespace), id_problems("$.memory_id", memory_id))
        return await do(self._find(namespace, memory_id))

    @Effect.gen
    async def history(self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str) -> MemoryHistory:
        """See ``LongTermMemory``."""
        refuse(do, namespace_problems(namespace), id_problems("$.memory_id", memory_id))
        found = await do(self.repository.history(namespace, memory_id).alt(GenericMemoryError))
        return found if found.events else do.fail(MemoryNotFoundError(memory_id))

    def list(
        self,
        namespace: Namespace,
        *,
        limit: int = 100,
        after: str | None = None,
        memory_type: MemoryType | None = None,
        category: Category | None = None,
        session_id: str | None = None,
        tag: str | None = None,
        containing: str | None = None,
        as_of: datetime | None = None,
        source: Source | None = None,
        superseded: bool = False,
    ) -> Effect[MemoryPage, RecallError]:
        """See ``LongTermMemory``."""
        listing = MemoryListing(
            namespace,
            limit,
            memory_type=memory_type,
            category=category,
            session_id=session_id,
            tag=tag,
            containing=containing,
            as_of=as_of,
            source=source,
            superseded=superseded,
        )
        return self._page(listing, after)

    def facets(
        self,
        namespace: Namespace,
        *,
        memory_type: MemoryType | None = None,
        category: Category | None = None,
        session_id: str | None = None,
        tag: str | None = None,
        as_of: datetime | None = None,
        source: Source | None = None,
        superseded: bool = False,
    ) -> Effect[MemoryFacets, RecallError]:
        """See ``LongTermMemory``."""
        listing = MemoryListing(
            namespace,
            0,
            memory_type=memory_type,
            category=category,
            session_id=session_id,
            tag=tag,
            as_of=as_of,
            source=source,
            superseded=superseded,
        )
        return self._counted(listing)

    @Effect.gen
    async def update(
        self,
        do: Do[MemoryChangeError],
        namespace: Namespace,
        memory_id: str,
        changes: MemoryChanges,
        *,
        expected_version: int | None = None,
    ) -> Memory:
        """See ``LongTermMemory``."""
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            changes_problems(changes),
            [] if expected_version is None else limit_problems("$.expected_version", expected_version),
        )
        rewriting = self._rewrite(namespace, memory_id, changes, expected_version)
        # Without a version the correction applies to any content; with one, the other change may be this same correction.
        tries = Schedule.recurs(REWRITES if expected_version is None else 1)
        return await do(rewriting.retry(tries, while_=_was_changed))

    @Effect.gen
    async def _rewrite(
        self,
        do: Do[MemoryChangeError],
        namespace: Namespace,
        memory_id: str,
        changes: MemoryChanges,
        expected_version: int | None,
    ) -> Memory:
        memory = await do(self._find(namespace, memory_id))
        said = as_new(memory)
        changed = evolve(said, **given(changes))
        if memory.value_key not in {None, changed.key}:
            refuse(do, [Problem("$.changes.key", OTHER_KEY)])
        if expected_version is not None and memory.version != expected_version:
            if _say_the_same(changed, said):
                return memory
            do.fail(MemoryChangedError(memory_id, expected_version, memory.version))
        keep_vector = text_to_embed(changed) == text_to_embed(said)
        drafted = await do(
            self.drafts.draft(memory.namespace, [changed], dedup="exact", embed=not keep_vector)
        )
        (draft,) = drafted.drafts
        rewritten = await do(
            self.repository.rewrite(draft, expected_version=memory.version, keep_vector=keep_vector).alt(
                memory_error
            )
        )
        return rewritten or do.fail(MemoryNotFoundError(memory_id))

    @Effect.gen
    async def supersede(
        self, do: Do[MemoryChangeError], namespace: Namespace, memory_id: str, replacement: NewMemory
    ) -> Stored:
        """See ``LongTermMemory``."""
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            memory_problems("$.replacement", replacement),
        )
        older = await do(self._find(namespace, memory_id))
        if older.value_key is not None and older.value_key == replacement.key:
            replacement = evolve(replacement, role=older.role, source=older.source)  # the next value
        drafted = await do(self.drafts.draft(older.namespace, [replacement], path="$.replacement"))
        drafts = tuple(evolve(draft, replaces=memory_id) for draft in drafted.drafts)
        # mypy does not solve the variable of a function for a union of three.
        (outcome,) = await do(self.repository.store(drafts).alt(lambda error: memory_error(error)))  # noqa: PLW0108
        return outcome if isinstance(outcome, Stored) else Stored(outcome.of or memory_id)

    @Effect.gen
    async def restore(
        self,
        do: Do[MemoryReadError],
        namespace: Namespace,
        memory_id: str,
        *,
        instead_of: str | None = None,
    ) -> Memory:
        """See ``LongTermMemory``."""
        is_same = instead_of is not None and instead_of == memory_id
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            id_problems("$.instead_of", instead_of, or_none=True),
            [Problem("$.instead_of", "expected another memory than the one to restore")] if is_same else [],
        )
        restoring = self.repository.restore(namespace, memory_id, instead_of=instead_of, now=self.clock.now())
        return await do(restoring.alt(memory_error))

    def promote(self, namespace: Namespace, memory_id: str) -> Effect[Memory, MemoryReadError]:
        """See ``LongTermMemory``."""
        return self._mark(namespace, memory_id, memory_type="long_term")

    def pin(
        self, namespace: Namespace, memory_id: str, *, pinned: bool = True
    ) -> Effect[Memory, MemoryReadError]:
        """See ``LongTermMemory``."""
        return self._mark(namespace, memory_id, pinned=pinned)

    @Effect.gen
    async def _mark(
        self,
        do: Do[MemoryReadError],
        namespace: Namespace,
        memory_id: str,
        *,
        memory_type: MemoryType | None = None,
        pinned: bool | None = None,
    ) -> Memory:
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.memory_id", memory_id),
            [] if pinned is None else flag_problems("$.pinned", pinned),
        )
        marked = await do(
            self.repository.mark(namespace, memory_id, memory_type=memory_type, pinned=pinned).alt(
                GenericMemoryError
            )
        )
        return marked or do.fail(MemoryNotFoundError(memory_id))

    @Effect.gen
    async def re_embed(
        self, do: Do[RecallError], namespace: Namespace, *, limit: int = 1000, after: str | None = None
    ) -> ReEmbedReport:
        """See ``LongTermMemory``."""
        place, problems = read_cursor(after)
        refuse(
            do,
            namespace_problems(namespace),
            limit_problems("$.limit", limit),
            problems,
        )
        run = ReEmbedding(self.repository, self.drafts.embedder, namespace)
        return await do(run.run(limit=limit, after=place))


def as_new(memory: Memory) -> NewMemory:
    """Return *memory* as the value that ``remember`` takes."""
    return NewMemory(
        memory.content,
        id=memory.id,
        key=memory.key,
        value=memory.value,
        category=memory.category,
        tags=memory.tags,
        confidence=memory.confidence,
        source=memory.source,
        role=memory.role,
        session_id=memory.session_id,
        memory_type=memory.memory_type,
        pinned=memory.pinned,
        provenance=memory.provenance,
        created_at=memory.created_at,
        attribute=memory.attribute,
    )


def _say_the_same(one: NewMemory, other: NewMemory) -> bool:
    return one == other and _as_json(one.value) == _as_json(other.value)


def _as_json(value: Json) -> str:
    # In Python 1, 1.0 and True are equal, in JSON they are not.
    return json.dumps(value, sort_keys=True, default=dict)


def _was_changed(error: MemoryChangeError) -> bool:
    return isinstance(error, MemoryChangedError)
