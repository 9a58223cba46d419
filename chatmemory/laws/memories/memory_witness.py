"""``MemoryWitness``: asks a memory repository on behalf of a law, and observes all that a reader can read.

``MemoryRepositoryUnderTest``: the base class of all groups of laws for memory repositories.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, TypeAlias, final, get_args

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.message_repository import MessageRepository, MessageRepositoryTag
from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.errors import MemoryRewriteError, MemoryStoreError
from chatmemory.laws.kit.asking import Asker
from chatmemory.laws.kit.under_test import RepositoryUnderTest
from chatmemory.laws.memories.memory_samples import SPACE, TERMS, VECTORS
from chatmemory.longterm.memories import Memory, SaveOutcome
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import (
    Candidates,
    MemoryDraft,
    MemoryListing,
    MemorySearch,
)

NOWHERE: Final = "nowhere"  # a text that no sample contains
ALL: Final = 1000  # more than any law stores
SIMILARITY_DIGITS: Final = 5  # the contract promises 1e-6; the vectors of the laws are whole hundredths apart

Found: TypeAlias = Mapping[str, tuple[Memory, str, float | None]]
"""Candidates by id, each with its words and its rounded similarity."""


@final
@frozen
class MemoryObservation:
    """All that a reader in one namespace can read.

    Attributes:
        now: the memories that are true.
        then: by instant, the memories that were true.
        by_id: by id, the memory.
        found: the memories with a word or a vector, with the coverage.
    """

    now: tuple[Memory, ...]
    then: Mapping[datetime, tuple[Memory, ...]]
    by_id: Mapping[str, Memory | None]
    found: Found
    coverage: Coverage


@final
@frozen
class MemoryWitness(Asker):
    """Asks one repository, in its own namespaces and about its own ids.

    *messages* stores conversations in the same store, if there is such a repository.  A memory that the witness
    returns has its value as JSON text: Python calls 1, 1.0 and True equal, and 0.0 and -0.0.
    """

    ERRORS: ClassVar[tuple[type, ...]] = get_args(MemoryStoreError | MemoryRewriteError)
    repository: MemoryRepository
    messages: MessageRepository | None = None

    def user(self, name: str = "a", app: str = "") -> Namespace:
        """Return a namespace in this space."""
        return Namespace(self.named(name), app)

    async def store(self, *drafts: MemoryDraft) -> tuple[SaveOutcome, ...]:
        """Store drafts that must be accepted."""
        return await self.get(self.repository.store(drafts))

    async def memory(self, namespace: Namespace, memory_id: str) -> Memory | None:
        """Return the memory with an id; None when there is none."""
        found = await self.get(self.repository.get(namespace, memory_id))
        return found and plain(found)

    async def listed(self, namespace: Namespace, **filters: Any) -> tuple[Memory, ...]:
        """Return a list, of everything unless *filters* limit it."""
        listing = evolve(MemoryListing(namespace, ALL), **filters)
        return tuple(map(plain, await self.get(self.repository.list(listing))))

    async def search(self, namespace: Namespace, **query: Any) -> Candidates:
        """Search for every word and every vector, unless *query* changes that."""
        return await self.get(self.repository.search(search_for(namespace, **query)))

    async def observe(
        self, namespace: Namespace, *, ids: Iterable[str] = (), instants: Iterable[datetime] = ()
    ) -> MemoryObservation:
        """Return all that a reader can read."""
        candidates = await self.search(namespace)
        return MemoryObservation(
            now=await self.listed(namespace),
            then={instant: await self.listed(namespace, as_of=instant) for instant in instants},
            by_id={memory_id: await self.memory(namespace, memory_id) for memory_id in ids},
            found=found(candidates),
            coverage=candidates.coverage,
        )


def search_for(namespace: Namespace, **query: Any) -> MemorySearch:
    """Return a search for every word of the samples and in their space, unless *query* changes that."""
    whole = MemorySearch(namespace, NOWHERE, TERMS, SPACE, VECTORS[0], limit=ALL)
    return evolve(whole, **query)


def plain(memory: Memory) -> Memory:
    """Return *memory* with its value as JSON text."""
    return evolve(memory, value=json.dumps(memory.value, sort_keys=True))


def found(candidates: Candidates) -> Found:
    """Return candidates in a form that can be compared."""
    return {
        candidate.memory.id: (plain(candidate.memory), candidate.terms, rounded(candidate.similarity))
        for candidate in candidates.found
    }


def rounded(similarity: float | None) -> float | None:
    """Return a rounded cosine, so that two exact computations give the same value; -0.0 becomes 0.0."""
    return None if similarity is None else round(similarity, SIMILARITY_DIGITS) + 0.0


def ids_of(memories: Sequence[Memory]) -> list[str]:
    """Return the ids, in order."""
    return [memory.id for memory in memories]


class MemoryRepositoryUnderTest(RepositoryUnderTest[MemoryWitness]):
    """The memory repository under test: a layer that provides ``MemoryRepositoryTag``.

    Attributes:
        keeps_conversations: whether the layer also provides ``MessageRepositoryTag``, over the same store.
    """

    repository: (
        Layer[MemoryRepositoryTag, Any, Any] | Layer[MemoryRepositoryTag | MessageRepositoryTag, Any, Any]
    )
    keeps_conversations: bool = True

    async def witness(self, runtime: ManagedRuntime[Any], **witness: Any) -> MemoryWitness:
        """Return a witness that calls the repository of *runtime*.

        Args:
            runtime: has built the layer.
            witness: further arguments of ``MemoryWitness``.
        """
        speaking = MemoryWitness(await runtime.service(MemoryRepositoryTag), **witness)
        if not self.keeps_conversations:
            return speaking
        messages = await runtime.service(MessageRepositoryTag)
        return evolve(speaking, messages=messages)
