"""``MemoryHistory``: what happened to a memory, and what it said before."""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.events.event import Event
from chatmemory.input.json_value import Json
from chatmemory.longterm.memories import Category, Provenance, Source


@final
@frozen
class EarlierContent:
    """What a memory said at a version.

    Attributes:
        replaced_at: when a correction took its place, by the clock of the store, UTC.
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

    What was forgotten has events and no content; what was never there has neither.
    """

    events: tuple[Event, ...]
    earlier: tuple[EarlierContent, ...] = ()
