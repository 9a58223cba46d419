"""``Correcting``: gives a memory other fields, or a successor."""

from typing import Final, final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.schedule import Schedule
from chatmemory.errors import (
    MemoryChangedError,
    MemoryChangeError,
    MemoryNotFoundError,
    Problem,
    memory_error,
)
from chatmemory.input.choices import given
from chatmemory.input.json_value import same_json, to_json
from chatmemory.input.rules import refuse
from chatmemory.longterm.memories import Memory, MemoryChanges, NewMemory, Stored, as_new
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.reading import attributes_read, find, with_attribute_of_content
from chatmemory.longterm.saving.memory_drafts import MemoryDrafts, text_to_embed

REWRITES: Final = 10  # retries of a correction without a version, when other callers change the same memory

OTHER_KEY: Final = "is the key of a value: put the value under the other key, and delete this one"


@final
@frozen
class Correcting:
    """Corrects and supersedes memories in *repository*; *drafts* embeds their new contents."""

    repository: MemoryRepository
    drafts: MemoryDrafts

    def update(
        self, namespace: Namespace, memory_id: str, changes: MemoryChanges, *, expected_version: int | None
    ) -> Effect[Memory, MemoryChangeError]:
        """Correct a memory, see ``LongTermMemory.update``."""
        rewriting = self._rewrite(namespace, memory_id, changes, expected_version)
        # Without a version the correction applies to any content; with one, the other change may be this same correction.
        tries = Schedule.recurs(REWRITES if expected_version is None else 1)
        return rewriting.retry(tries, while_=_was_changed)

    @Effect.gen
    async def _rewrite(
        self,
        do: Do[MemoryChangeError],
        namespace: Namespace,
        memory_id: str,
        changes: MemoryChanges,
        expected_version: int | None,
    ) -> Memory:
        memory = await do(find(self.repository, namespace, memory_id))
        said = as_new(memory)
        changed = evolve(said, **given(changes))
        if memory.value_key not in {None, changed.key}:
            refuse(do, [Problem("$.changes.key", OTHER_KEY)])
        if _say_the_same(changed, said):
            return memory
        if expected_version is not None and memory.version != expected_version:
            do.fail(MemoryChangedError(memory_id, expected_version, memory.version))
        changed = await do(with_attribute_of_content(self.repository, memory, changed))
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
        """Replace a memory by a newer fact, see ``LongTermMemory.supersede``."""
        older = await do(find(self.repository, namespace, memory_id))
        if older.value_key is not None and older.value_key == replacement.key:
            replacement = evolve(replacement, role=older.role, source=older.source)  # the next value
        (read,) = await do(attributes_read(self.repository, older.namespace, [replacement]))
        replacement = read if read.attribute is not None else evolve(read, attribute=older.attribute)
        drafted = await do(self.drafts.draft(older.namespace, [replacement], path="$.replacement"))
        drafts = tuple(evolve(draft, replaces=memory_id) for draft in drafted.drafts)
        # mypy does not solve the variable of a function for a union of three.
        (outcome,) = await do(self.repository.store(drafts).alt(lambda error: memory_error(error)))  # noqa: PLW0108
        return outcome if isinstance(outcome, Stored) else Stored(outcome.of or memory_id)


def _say_the_same(one: NewMemory, other: NewMemory) -> bool:
    # In Python 1, 1.0 and True are equal, in JSON they are not.
    return one == other and same_json(to_json(one.value), to_json(other.value))


def _was_changed(error: MemoryChangeError) -> bool:
    return isinstance(error, MemoryChangedError)
