"""What the methods of ``MemoryRepository`` are given, as one value each: how calls reach the functions of a driver.

Methods that are given one value anyhow pass that on; what each means is said in ``chatmemory/longterm/memory_repository.py``.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.rules import Place
from chatmemory.longterm.memories import MemoryType, Namespace
from chatmemory.longterm.memory_repository import Attachment, MemoryDraft


@final
@frozen
class Named:
    """A memory that a reader in *namespace* asks for."""

    namespace: Namespace
    memory_id: str


@final
@frozen
class Keyed:
    """A key of exactly this namespace."""

    namespace: Namespace
    key: str
    as_of: datetime | None


@final
@frozen
class Retirement:
    """A key whose memories are true no longer."""

    namespace: Namespace
    key: str
    now: datetime


@final
@frozen
class Unembedded:
    """A stretch of what a re-embedding still has to do."""

    namespace: Namespace
    space: EmbeddingSpace
    limit: int
    after: Place | None


@final
@frozen
class Attaching:
    """Vectors of *space* for memories of *namespace*."""

    namespace: Namespace
    space: EmbeddingSpace
    attachments: tuple[Attachment, ...]


@final
@frozen
class Rewriting:
    """A correction; ``keep_vector``: it says the same to the embedder."""

    draft: MemoryDraft
    expected_version: int
    keep_vector: bool


@final
@frozen
class Marks:
    """What a person says of a memory; None: as it was."""

    namespace: Namespace
    memory_id: str
    memory_type: MemoryType | None
    pinned: bool | None


@final
@frozen
class Use:
    """Memories that entered one context."""

    namespace: Namespace
    memory_ids: tuple[str, ...]
    use_id: str
    session_id: str | None
    now: datetime
    promote_after: int | None


@final
@frozen
class Expiry:
    """Short-term memories of this session and older than that; None: of any."""

    namespace: Namespace
    session_id: str | None
    created_before: datetime | None
