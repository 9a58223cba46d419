"""``MemoryHistory``: the events of a memory and its earlier contents."""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.events.event import Event
from chatmemory.input.json_value import Json
from chatmemory.longterm.memories import Category, Provenance, Source


@final
@frozen
class EarlierContent:
    """The content of a memory at an earlier version.

    Attributes:
        replaced_at: when a correction replaced this content, by the clock of the store, UTC.
    """

    version: int
    replaced_at: datetime
    content: str
    key: str | None
    value: Json
    category: Category | None
    tags: tuple[str, ...]
    confidence: float
    source: Source
    provenance: Provenance


@final
@frozen
class MemoryHistory:
    """The events of a memory and its earlier contents, both oldest first.

    A memory that was forgotten has events but no contents; a memory that never existed has neither.
    """

    events: tuple[Event, ...]
    earlier: tuple[EarlierContent, ...] = ()
